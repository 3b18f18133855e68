//! What is known of words ahead of any registry: which say nothing, which say little, which are another's name.

use super::stem::stem;
use super::{Mixed, hash};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words that no text is about, of the languages that prompts are written in most, and those with which every skill is described.
const SILENT: &str = "a aber able about above across after again against al all along already als also although always am among an and another any anyone \
    anything are aren't around as ask asked asks at au auch auf aus aux avec bad be because been before bei being below best better between \
    bit bitte both but by came can cannot cant ce ces cette che com come comes comment como con continue could cuándo cómo d da dans das \
    dass de del dem den der des di did didnt die dir do does doesnt doing don done dont dove down du during dónde e each eg ein eine einem \
    einen einer el elle else en er es est esta este estos et etc even ever every everybody everything explicit explicitly few first for fra \
    from further für g get gets getting give given gives gli go goes going gone good got haben had has hat have havent having he hello her \
    here hers herself hey hi him himself his how however i ich id ie if ihr il ill im implicit in instead into isnt ist it its itself ive je \
    just kann kannst keep keeps kein keine kind know la las last le les let lets like ll lo look looks los lot lots m ma made mais make \
    makes making mal mandatory many mas may maybe me mention mentioned mentions mes meu mi mia mich might mine minha mio mir mis mit mon \
    more most much must my myself nach ne need needs never new next nicht no noch non nor not nothing nous now nur não o oder of off ok okay \
    old on once onde one only onto or os other ou ought our ourselves out over own para pas per pero phrase phrases please pls por pour \
    pourquoi put quand quando que questa questo qui quoi qué rather re really request requests right s said same say says schon se see sem \
    shall she should sie sin since sind so some somebody someone something son sono sont sort sous still stuff su such sur sure sus t take \
    takes te tell than thank thanks that thats the their theirs them themselves then there therefore these they thing things think this \
    those though three through to too tra tried trigger triggered triggers try trying tu two tú u um uma un una und under undo une unos uns \
    unter until up ur us use used user users uses using usted ve very via von vous vs wann want wanted wants war warum was wasn way ways we \
    weil wenn wer werden were what whats when whenever where whether which while who whom whose why wie will wir wird with within without wo \
    won wont would y yes yet yo you your yourself zu zum zur über а або бы был было быть в вас во вот все вы да даже для до его ее ему если \
    есть еще же за и из или к как когда ли меня мне мой моя на надо не нет ни но ну о он она от по пожалуйста помоги с со так теперь то \
    только ты у уже це что що это этот я як";

/// Words that many tasks share. However rare they are in a registry, they tell little of which skill is meant.
const GENERIC: &str = "add agent analyse analysis analyze animation answer api app application applies based big book border branch break broken bug build \
    built business button call case cases change check choice choose class claude clean client code codebase coding color colour column \
    comment commit common company compare complete component config configuration convert cover covers create current custom data date day \
    default delete describe design develop dialog different document draft easy editor end english error example exist explain extract fail \
    failure feature field file find fix folder font food footer format full function game general generate guide guidelines handle hard \
    header help high home house icon ignore image implement important improve include input internet issue language large layout library \
    life line link list load local log login long low main manage market menu merge message method migrate model module money month move \
    multi multiple music name number online open optimize option output package page part pattern people person pick picture place plan \
    point practice prepare price print private problem process produce product program project provide public question quick read recommend \
    refactor remote remove rename replace repo report repository response result return review row rule run safe save screen search section \
    send server service session set setup several short show simple single site size skill slide small specific split start state step stop \
    story structure style summaries summarize support system table task team test text theme thread time title tool top track type update \
    validate validation value version view warn web website week whole word work workflow world write written year";

/// Names of one thing.
const SAME: &[&[&str]] = &[
    &["k8s", "kubernetes", "kubectl"],
    &["postgres", "postgresql"],
    &["js", "javascript"],
    &["ts", "typescript"],
    &["py", "python"],
    &["pr", "prs", "pull"],
    &["cv", "resume", "resumé"],
    &["db", "database"],
    &["repo", "repository"],
    &["photo", "picture", "image", "jpg", "jpeg", "png", "heic"],
    &["a11y", "accessibility"],
    &["i18n", "internationalization", "localization", "translation"],
    &["regex", "regexp"],
    &["iphone", "ios", "ipad", "swift"],
    &["tf", "terraform"],
    &["excel", "spreadsheet", "xlsx", "xls"],
    &["powerpoint", "pptx", "slide", "deck", "presentation"],
    &["llm", "gpt"],
    &["auth", "oauth", "login", "signin"],
    &["mail", "email"],
    &["postmortem", "incident"],
    &["golang", "go"],
    &["md", "markdown"],
    &["ebook", "epub", "kindle"],
    &["video", "mp4", "mov", "clip"],
    &["podcast", "recording"],
];

static SILENT_WORDS: LazyLock<HashSet<u64, Mixed>> = LazyLock::new(|| SILENT.split(' ').map(hash).collect());
static GENERIC_STEMS: LazyLock<HashSet<u64, Mixed>> = LazyLock::new(|| GENERIC.split(' ').map(stemmed).collect());
static OTHER_NAMES: LazyLock<HashMap<u64, Vec<u64>, Mixed>> = LazyLock::new(|| {
    let mut all: HashMap<u64, Vec<u64>, Mixed> = HashMap::default();
    for group in SAME {
        let stems: Vec<u64> = group.iter().map(|word| stemmed(word)).collect();
        for stem in &stems {
            all.entry(*stem).or_default().extend(stems.iter().filter(|other| *other != stem));
        }
    }
    all
});

fn stemmed(word: &str) -> u64 {
    let mut word = word.to_owned();
    stem(&mut word);
    hash(&word)
}

/// `word` is in lower case, with its endings, and `hash` its own.
pub(super) fn is_silent(word: &str, hash: u64) -> bool {
    // A letter alone says nothing, but where it is a word of a script without spaces.
    (word.len() == 1 && word.is_ascii()) || SILENT_WORDS.contains(&hash)
}

pub(super) fn is_generic(stem: u64) -> bool {
    GENERIC_STEMS.contains(&stem)
}

/// Stems of other names of the same thing.
pub(super) fn other_names(stem: u64) -> &'static [u64] {
    OTHER_NAMES.get(&stem).map_or(&[], Vec::as_slice)
}
