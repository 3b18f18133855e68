//! Several providers as one.

use super::{Answering, SharedProvider, SkillError, SkillErrorCode, SkillRequest, SkillResponse};
use crate::prompt::Diagnostic;
use crate::skill::{SkillId, SkillList};
use crate::sync::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::future::poll_fn;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use tower::Service;

/// Several providers as one, highest precedence first: of two skills with the same id the first stands, and a diagnostic names both providers.
/// They are asked side by side, and what comes of it does not depend on who answers first. A provider that fails costs a diagnostic, and its last
/// list stays. Clones share what they know.
///
/// ```
/// use tower::service_fn;
/// use tower_prompt_layers::skill::provider::{MergedSkills, SharedProvider, SkillError, SkillErrorCode, SkillRequest, SkillResponse};
/// use tower_prompt_layers::skill::SkillList;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let empty = service_fn(|_: SkillRequest| async { Ok::<_, SkillError>(SkillResponse::List(SkillList::default())) });
/// let gone = service_fn(|_: SkillRequest| async { Err::<SkillResponse, _>(SkillError::new(SkillErrorCode::Unavailable, "it ended")) });
/// let both = MergedSkills::new([("plugin:gone", SharedProvider::new(gone)), ("plugin:empty", SharedProvider::new(empty))]);
///
/// let list = SharedProvider::new(both).list().await.unwrap();
/// assert_eq!(list.diagnostics[0].message, "the skill provider plugin:gone: it ended");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MergedSkills(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    providers: Vec<(String, SharedProvider)>,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    /// Of each provider the newest list that came, and of which asking.
    lists: Vec<Option<(u64, SkillList)>>,
    /// By number, once there is a list.
    owners: BTreeMap<SkillId, usize>,
    asked: u64,
}

impl MergedSkills {
    /// These, each with the label that diagnostics call it by.
    pub fn new<L: Into<String>>(providers: impl IntoIterator<Item = (L, SharedProvider)>) -> Self {
        let providers: Vec<_> = providers.into_iter().map(|(label, provider)| (label.into(), provider)).collect();
        let known = Known { lists: vec![None; providers.len()], owners: BTreeMap::new(), asked: 0 };
        Self(Arc::new(Inner { providers, known: Mutex::new(known) }))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn list(&self) -> SkillList {
        let number = {
            let mut known = self.known();
            known.asked += 1;
            known.asked
        };
        let asked = self.0.providers.iter().map(|(_, provider)| {
            let provider = provider.clone();
            Box::pin(async move { provider.list().await }) as Listing
        });
        let came = side_by_side(asked.collect()).await;
        let mut known = self.known();
        let mut failures = Vec::new();
        for (((label, _), held), came) in self.0.providers.iter().zip(&mut known.lists).zip(came) {
            match came {
                Ok(list) if held.as_ref().is_none_or(|(of, _)| *of < number) => *held = Some((number, list)),
                // Another asking began later, and was answered before this one.
                Ok(_) => {}
                Err(error) => {
                    let mut failed = error.diagnostic(label);
                    if held.is_some() {
                        failed.message.push_str("; its last list stays");
                    }
                    failures.push(failed);
                }
            }
        }
        let (list, owners) = self.merged(&known.lists, failures);
        known.owners = owners;
        list
    }

    fn merged(&self, lists: &[Option<(u64, SkillList)>], mut diagnostics: Vec<Diagnostic>) -> (SkillList, BTreeMap<SkillId, usize>) {
        let mut owners: BTreeMap<SkillId, usize> = BTreeMap::new();
        let mut skills = Vec::new();
        let label = |number: usize| self.0.providers.get(number).map_or("", |(label, _)| label);
        for (number, list) in lists.iter().enumerate() {
            let Some((_, list)) = list else { continue };
            diagnostics.extend_from_slice(&list.diagnostics);
            for skill in &list.skills {
                let message = match owners.entry(skill.id.clone()) {
                    Entry::Vacant(free) => {
                        free.insert(number);
                        skills.push(skill.clone());
                        continue;
                    }
                    Entry::Occupied(owner) if *owner.get() == number => {
                        format!("skill `{}` stands twice in the list of {}; the first counts", skill.id, label(number))
                    }
                    Entry::Occupied(owner) => {
                        format!("skill `{}` of {} is shadowed by that of {}", skill.id, label(number), label(*owner.get()))
                    }
                };
                diagnostics.push(Diagnostic::warning("skill-shadowed", message).at(&*skill.location));
            }
        }
        skills.sort_by(|a, b| a.id.cmp(&b.id));
        (SkillList { skills, diagnostics }, owners)
    }

    /// Who lists the skill answers. Where nobody does, they are asked in turn, and the first counts that doesn't call it unknown.
    async fn about(&self, skill: &SkillId, request: SkillRequest) -> Result<SkillResponse, SkillError> {
        let owner = self.known().owners.get(skill).copied();
        if let Some((_, provider)) = owner.and_then(|owner| self.0.providers.get(owner)) {
            return provider.ask(request).await;
        }
        for (_, provider) in &self.0.providers {
            match provider.ask(request.clone()).await {
                Err(error) if error.code == SkillErrorCode::UnknownSkill => {}
                answer => return answer,
            }
        }
        Err(SkillError::unknown_skill(skill.as_str()))
    }
}

type Listing = std::pin::Pin<Box<dyn Future<Output = Result<SkillList, SkillError>> + Send>>;

/// All of them, in their order, once the last has come.
async fn side_by_side(mut listings: Vec<Listing>) -> Vec<Result<SkillList, SkillError>> {
    let mut came: Vec<Option<Result<SkillList, SkillError>>> = listings.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (listing, came) in listings.iter_mut().zip(&mut came).filter(|(_, came)| came.is_none()) {
            if let Poll::Ready(list) = listing.as_mut().poll(cx) {
                *came = Some(list);
            }
        }
        if came.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    came.into_iter().flatten().collect()
}

impl Service<SkillRequest> for MergedSkills {
    type Response = SkillResponse;
    type Error = SkillError;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), SkillError>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: SkillRequest) -> Answering {
        let merged = self.clone();
        Box::pin(async move {
            match request.skill().cloned() {
                None => Ok(SkillResponse::List(merged.list().await)),
                Some(skill) => merged.about(&skill, request).await,
            }
        })
    }
}
