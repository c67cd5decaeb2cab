//! The house is tidy: every module says what it is, nothing is left for later,
//! no file is a heap, and what is shipped is listed.

use std::path::{Path, PathBuf};

/// Lines of a source file beyond which it holds more than one idea.
const MAX_LINES: usize = 900;

/// Bytes of any file under version control: results and recordings are no source.
const MAX_BYTES: u64 = 1 << 20;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below `folder` that end so, but for what builds and runs leave.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                if !["target", ".git", "runs"].contains(&name) {
                    folders.push(path);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no file ends with {ending}");
    found
}

/// What is wrong with each file, one complaint a line.
fn check(ending: &str, complaint: impl Fn(&Path, &str) -> Option<String>) {
    let complaints: Vec<String> = files(root(), ending)
        .iter()
        .filter_map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            let shown = path.strip_prefix(root()).unwrap().display().to_string();
            complaint(path, &text).map(|complaint| format!("{shown}: {complaint}"))
        })
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_module_says_what_it_is() {
    check(".rs", |_, text| {
        let first = text.lines().find(|line| !line.is_empty() && !line.starts_with("#!["));
        let is_said = first.is_some_and(|line| line.starts_with("//! "));
        (!is_said).then(|| "begins without //!".to_owned())
    });
}

#[test]
fn nothing_is_left_for_later() {
    // Put together, so that this file passes.
    let words = [["FIX", "ME"], ["TO", "DO"], ["XX", "X"], ["HA", "CK"]].map(|word| word.concat());
    check(".rs", |_, text| {
        let mut lines = text.lines().zip(1..);
        let is_word = |line: &str, word: &String| {
            line.split(|c: char| !c.is_alphanumeric()).any(|part| part == word)
        };
        let (_, number) = lines.find(|(line, _)| words.iter().any(|word| is_word(line, word)))?;
        Some(format!("line {number} puts something off"))
    });
}

#[test]
fn no_source_file_is_a_heap() {
    check(".rs", |_, text| {
        let n_lines = text.lines().count();
        (n_lines > MAX_LINES).then(|| format!("{n_lines} lines, more than {MAX_LINES}"))
    });
}

#[test]
fn no_file_is_large() {
    for path in files(root(), "") {
        let bytes = path.metadata().unwrap().len();
        assert!(bytes <= MAX_BYTES, "{}: {bytes} bytes", path.display());
    }
}

#[test]
fn every_shipped_rulesheet_is_listed_with_its_source() {
    let folder = root().join("games/rulesheets");
    let sources = std::fs::read_to_string(folder.join("SOURCES.md")).unwrap();
    let mut names: Vec<&str> = games::library::names().collect();
    names.sort_unstable();
    let stems: Vec<String> = files(&folder, ".kif")
        .iter()
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(stems, names, "the library is the folder");
    for name in names {
        assert!(sources.contains(name), "SOURCES.md does not name {name}");
    }
}

/// The names of all types in the sources, with the file of each; tests are left out.
fn types() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for folder in ["src", "games/src", "players/src", "results/src"] {
        for file in files(&root().join(folder), ".rs") {
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            for line in code.lines() {
                let words: Vec<&str> = line.split_whitespace().collect();
                let at = words.iter().position(|word| ["struct", "enum", "trait"].contains(word));
                let is_item = |at: usize| words[..at].iter().all(|word| word.starts_with("pub"));
                if let Some(at) = at.filter(|&at| is_item(at) && at + 1 < words.len()) {
                    let name = |c: char| !c.is_alphanumeric();
                    let name = words[at + 1].split(name).next().unwrap();
                    found.push((name.to_owned(), file.clone()));
                }
            }
        }
    }
    assert!(found.len() > 300, "{} types", found.len());
    found
}

/// A general word alone does not say what a type is: at most one type has it. Words
/// that are not of the field name no type.
#[test]
fn one_word_names_one_thing() {
    let types = types();
    for word in
        ["Engine", "Program", "Plan", "Evaluation", "Outcome", "Table", "Kind", "Course", "Case"]
    {
        let named: Vec<_> = types.iter().filter(|(name, _)| name == word).collect();
        assert!(named.len() <= 1, "{named:?}");
    }
    let strange = ["Sheet", "Turns", "Cast", "Workshop", "Book", "Lots", "Told", "Together"];
    let words = |name: &str| -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for letter in name.chars() {
            match words.last_mut() {
                Some(word) if letter.is_lowercase() => word.push(letter),
                _ => words.push(letter.to_string()),
            }
        }
        words
    };
    let is_strange = |name: &str| words(name).iter().any(|word| strange.contains(&word.as_str()));
    let named: Vec<_> = types.iter().filter(|(name, _)| is_strange(name)).collect();
    assert!(named.is_empty(), "{named:?}");
}

/// The types that the glossary names are there.
#[test]
fn the_glossary_names_types_that_exist() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let glossary = text.split("\n## Glossary\n").nth(1).expect("there is a glossary");
    let glossary = glossary.split("\n## ").next().unwrap();
    let types = types();
    let quoted = glossary.split('`').skip(1).step_by(2);
    let named: Vec<&str> = quoted.filter(|word| word.starts_with(char::is_uppercase)).collect();
    assert!(!named.is_empty());
    for name in named {
        assert!(types.iter().any(|(known, _)| known == name), "no type `{name}`");
    }
}

#[test]
fn every_command_is_in_the_readme() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let told = |arguments: &[&str]| {
        let program = assert_cmd::cargo::cargo_bin!("gamemaster");
        let output = std::process::Command::new(program).args(arguments).arg("--help").output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let commands = |help: &str| -> Vec<String> {
        let (_, list) = help.split_once("Commands:\n").unwrap();
        let lines = list.lines().take_while(|line| !line.is_empty());
        lines
            .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
            .filter(|&word| word != "help")
            .map(str::to_owned)
            .collect()
    };
    let top = commands(&told(&[]));
    assert!(top.iter().any(|command| command == "run"), "{top:?}");
    for command in &top {
        assert!(readme.contains(&format!("gamemaster {command}")), "README.md lacks {command}");
    }
    for command in commands(&told(&["game"])) {
        let named = format!("gamemaster game {command}");
        assert!(readme.contains(&named), "README.md lacks {named}");
    }
}
