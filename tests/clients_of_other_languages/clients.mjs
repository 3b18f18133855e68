// The official packages of Node before the proxy: `clients.mjs PROXY`. What they hear goes to stdout, for `judge.py`; errors are thrown here.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import assert from 'node:assert/strict';

const proxy = process.argv[2];
const apiKey = 'sk-of-nobody';
const asked = ['Hello, ünï 🙂', 'Again, streamed', 'What is the weather in Oslo?', 'And streamed: what is the weather in Rome?', 'Thanks'];
const result = '21 °C, "clear"';
const schema = { type: 'object', properties: { city: { type: 'string' }, note: { type: 'string' } }, required: ['city'] };
const description = 'Tells the weather.';

class Chat {
  static label = 'openai-chat';
  constructor(defaultHeaders) {
    this.client = new OpenAI({ baseURL: `${proxy}/v1`, apiKey, defaultHeaders, maxRetries: 0 });
    this.messages = [{ role: 'developer', content: "The caller's own." }];
    this.more = { model: 'm', tools: [{ type: 'function', function: { name: 'weather', description, parameters: schema } }] };
  }
  ask(text) {
    this.messages.push({ role: 'user', content: [{ type: 'text', text }] });
  }
  result(call, content) {
    this.messages.push({ role: 'tool', tool_call_id: call.id, content });
  }
  async send(stream) {
    const request = { ...this.more, messages: this.messages };
    const completion = stream
      ? await this.client.chat.completions.stream(request).finalChatCompletion()
      : await this.client.chat.completions.create(request);
    const { content, tool_calls = [] } = completion.choices[0].message;
    const calls = tool_calls.map(({ id, type, function: { name, arguments: text } }) => ({ id, type, function: { name, arguments: text } }));
    this.messages.push({ role: 'assistant', content, ...(calls.length ? { tool_calls: calls } : {}) });
    return [content ?? '', calls.map((call) => ({ id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) }))];
  }
}

class Responses {
  static label = 'openai-responses';
  constructor(defaultHeaders) {
    this.client = new OpenAI({ baseURL: `${proxy}/v1`, apiKey, defaultHeaders, maxRetries: 0 });
    this.input = [];
    const tool = { type: 'function', name: 'weather', description, parameters: schema, strict: false };
    this.more = { model: 'm', tools: [tool], instructions: "The caller's own.", store: false };
  }
  ask(text) {
    this.input.push({ role: 'user', content: [{ type: 'input_text', text }] });
  }
  result(call, output) {
    this.input.push({ type: 'function_call_output', call_id: call.id, output });
  }
  async send(stream) {
    const request = { ...this.more, input: this.input };
    let response;
    if (stream) {
      for await (const event of await this.client.responses.create({ ...request, stream: true })) {
        if (event.type === 'response.completed') response = event.response;
      }
    } else {
      response = await this.client.responses.create(request);
    }
    const text = response.output.filter((item) => item.type === 'message').flatMap((item) => item.content.map((part) => part.text)).join('');
    const calls = response.output.filter((item) => item.type === 'function_call');
    this.input.push(...response.output.map(({ parsed_arguments: _, ...item }) => item));
    return [text, calls.map((call) => ({ id: call.call_id, name: call.name, arguments: JSON.parse(call.arguments) }))];
  }
}

class Messages {
  static label = 'anthropic';
  constructor(defaultHeaders) {
    this.client = new Anthropic({ baseURL: proxy, apiKey, authToken: null, defaultHeaders, maxRetries: 0 });
    this.messages = [];
    this.more = { model: 'm', max_tokens: 99, system: "The caller's own.", tools: [{ name: 'weather', description, input_schema: schema }] };
  }
  ask(text) {
    this.messages.push({ role: 'user', content: [{ type: 'text', text }] });
  }
  result(call, content) {
    this.messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content }] });
  }
  async send(stream) {
    const request = { ...this.more, messages: this.messages };
    const message = stream ? await this.client.messages.stream(request).finalMessage() : await this.client.messages.create(request);
    this.messages.push({ role: 'assistant', content: message.content });
    const calls = message.content.filter((block) => block.type === 'tool_use');
    const text = message.content.filter((block) => block.type === 'text').map((block) => block.text).join('');
    return [text, calls.map((call) => ({ id: call.id, name: call.name, arguments: call.input }))];
  }
}

// The conversation that each client carries: chat, streaming, and two tool loops.
async function converse(Kind, isNamed) {
  const conversation = `node ${Kind.label} ${isNamed ? 'with' : 'without'} a session`;
  const client = new Kind({ 'x-conversation': conversation, ...(isNamed ? { 'x-session-id': conversation } : {}) });
  const heard = [];
  const send = async (stream) => {
    const [text, calls] = await client.send(stream);
    heard.push({ text, calls: calls.map((call) => ({ name: call.name, arguments: call.arguments })) });
    return calls;
  };
  for (const [turn, text] of asked.entries()) {
    client.ask(text);
    const stream = turn === 1 || turn === 3;
    for (let calls = await send(stream); calls.length; calls = await send(stream)) {
      calls.forEach((call) => client.result(call, result));
    }
  }
  console.log(JSON.stringify({ conversation, heard }));
}

for (const Kind of [Chat, Responses, Messages]) {
  await converse(Kind, true);
  await converse(Kind, false);
  const refused = new Kind({ 'x-conversation': 'refused' });
  refused.ask('TOO MANY');
  await assert.rejects(refused.send(false), (error) => error.status === 429 && String(error.message).includes('slow down'));
}
