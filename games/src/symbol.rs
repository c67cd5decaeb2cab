//! Interned names: every atom and variable name of a rulesheet is a small
//! number, in the order of first appearance in the text.

use rustc_hash::FxHashMap;

/// Whether spellings that differ in ASCII case only are one symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Case {
    /// `Cell` and `cell` are one symbol, printed as first spelled.
    #[default]
    Folded,
    /// `Cell` and `cell` differ, except for the words of GDL that ggp-base
    /// folds: most keywords, `random` and the connectives, but not `sees`.
    Sensitive,
}

impl Case {
    /// Both, the default first.
    pub const ALL: [Self; 2] = [Self::Folded, Self::Sensitive];

    /// Its name in options and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Folded => "folded",
            Self::Sensitive => "sensitive",
        }
    }
}

/// What [`Case::Sensitive`] folds nevertheless.
pub(crate) const ALWAYS_FOLDED: [&str; 14] = [
    "init", "true", "next", "role", "does", "goal", "legal", "terminal", "base", "input", "random",
    "not", "or", "distinct",
];

/// One interned name. Ids grow in the order of first appearance in the text,
/// which is also the order by which moves and facts are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub u32);

/// The names of one rulesheet.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    case: Case,
    spellings: Vec<String>,
    ids: FxHashMap<String, SymbolId>,
}

impl Symbols {
    /// An empty table.
    #[must_use]
    pub fn new(case: Case) -> Self {
        Self { case, ..Self::default() }
    }

    /// How this table treats case.
    #[must_use]
    pub fn case(&self) -> Case {
        self.case
    }

    /// The id of `name`, interned now if it is new.
    pub fn intern(&mut self, name: &str) -> SymbolId {
        let key = self.key(name);
        if let Some(&id) = self.ids.get(key.as_ref()) {
            return id;
        }
        let key = key.into_owned();
        let id = SymbolId(u32::try_from(self.spellings.len()).expect("fewer than 2^32 symbols"));
        self.spellings.push(name.to_owned());
        self.ids.insert(key, id);
        id
    }

    /// The id of `name`, if it was interned.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<SymbolId> {
        self.ids.get(self.key(name).as_ref()).copied()
    }

    /// The first spelling of `id`.
    #[must_use]
    pub fn name(&self, id: SymbolId) -> &str {
        &self.spellings[id.0 as usize]
    }

    /// Number of interned names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spellings.len()
    }

    /// Whether nothing was interned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spellings.is_empty()
    }

    fn key<'a>(&self, name: &'a str) -> std::borrow::Cow<'a, str> {
        if !name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return name.into();
        }
        let folded = name.to_ascii_lowercase();
        let folds = match self.case {
            Case::Folded => true,
            Case::Sensitive => ALWAYS_FOLDED.contains(&folded.as_str()),
        };
        if folds { folded.into() } else { name.into() }
    }
}
