//! Querying the results of a run in SQL.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use results::journal::JournalError;
use results::query::{AnswerFormat, QUESTIONS, QueryError, TABLES, query};
use results::tables::ColumnKind;

use super::run_name::folder;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::output::to_stdout;
use crate::regular_file;

const EXAMPLES: &str = "\
Examples:
  gamemaster query my_run \"SELECT game, AVG(n_steps) FROM matches GROUP BY game\"
  gamemaster query my_run \"SELECT * FROM moves WHERE fault IS NOT NULL\" --json
  gamemaster query my_run --question opponents    a ready-made query
  gamemaster query my_run --file query.sql --json
  gamemaster query --questions        list the ready-made queries with their SQL
  gamemaster query --columns          list the tables and their columns

The tables are `matches`, with a row for each role of each match, and `moves`,
with a row for each decision. results/README.md describes the columns,
docs/query.md has examples.";

/// Arguments of `gamemaster query`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folder of a run, or the name of a folder in results/runs (NAME-HASH)
    #[arg(required_unless_present_any = ["questions", "columns"])]
    run: Option<PathBuf>,
    /// The query, in SQL
    #[arg(conflicts_with_all = ["question", "file"])]
    sql: Option<String>,
    /// Run a ready-made query
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    question: Option<String>,
    /// Read the SQL from FILE; `-` is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print the result in this format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: FormatWord,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// List the ready-made queries with their SQL
    #[arg(long, conflicts_with_all = ["run", "columns"])]
    questions: bool,
    /// List the tables and their columns
    #[arg(long, conflicts_with = "run")]
    columns: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum FormatWord {
    /// A table for a terminal
    #[default]
    Table,
    /// Comma-separated values, as in RFC 4180
    Csv,
    /// An array with an object for each row
    Json,
    /// A table in Markdown
    #[value(alias = "markdown")]
    Md,
}

impl FormatWord {
    fn or_json(self, json: bool) -> AnswerFormat {
        match self {
            _ if json => AnswerFormat::Json,
            Self::Table => AnswerFormat::Table,
            Self::Csv => AnswerFormat::Csv,
            Self::Json => AnswerFormat::Json,
            Self::Md => AnswerFormat::Md,
        }
    }
}

/// Carries out `gamemaster query`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let text = match &arguments.run {
        None if arguments.questions => questions(),
        None => columns(),
        Some(run) => {
            let sql = sql(arguments)?;
            let answer = query(&folder(run)?, &sql).map_err(failure)?;
            answer.render(arguments.format.or_json(arguments.json))
        }
    };
    to_stdout(|stdout| {
        stdout.write_all(text.as_bytes())?;
        Ok(exit_code::OK)
    })
}

/// The SQL of the query, wherever it was written.
fn sql(arguments: &Arguments) -> Result<String, Failure> {
    if let Some(sql) = &arguments.sql {
        return Ok(sql.clone());
    }
    if let Some(name) = &arguments.question {
        let found = QUESTIONS.iter().find(|question| question.name == name);
        let names = || QUESTIONS.map(|question| question.name).join(", ");
        let unknown =
            || Failure::usage(anyhow!("unknown ready-made query `{name}`; expected {}", names()));
        return found.map(|question| question.sql.to_owned()).ok_or_else(unknown);
    }
    match &arguments.file {
        Some(file) => read(file).map_err(Failure::usage),
        None => Err(Failure::usage(anyhow!(
            "no query was given; give SQL, --file FILE or --question NAME (`gamemaster query --questions` \
             lists names)"
        ))),
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    if file.as_os_str() == "-" {
        let sql = regular_file::read_text_of(std::io::stdin());
        return sql.context("cannot read standard input");
    }
    regular_file::read_text(file).with_context(|| format!("cannot read {}", file.display()))
}

fn questions() -> String {
    let question = |question: &results::query::Question| {
        format!("{}: {}\n\n{}\n", question.name, question.answers, indented(question.sql))
    };
    QUESTIONS.iter().map(question).collect::<Vec<_>>().join("\n")
}

fn indented(sql: &str) -> String {
    sql.lines().map(|line| format!("    {line}\n")).collect()
}

fn columns() -> String {
    let table = |table: &results::query::TableSchema| {
        let width = table.columns.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        let column = |(name, kind): &(&str, ColumnKind)| {
            let kind = match kind {
                ColumnKind::Text => "text",
                ColumnKind::Integer => "integer",
                ColumnKind::Real => "real",
            };
            format!("    {name:width$}  {kind}\n")
        };
        let columns: String = table.columns.iter().map(column).collect();
        format!("{}: a row for each {}\n\n{columns}", table.name, table.row)
    };
    TABLES.iter().map(table).collect::<Vec<_>>().join("\n")
}

/// What the user typed, or a folder without a run, is the user's mistake.
fn failure(error: QueryError) -> Failure {
    match error {
        QueryError::Journal(
            error @ (JournalError::Missing { .. }
            | JournalError::NoHeader { .. }
            | JournalError::NewerFormat { .. }),
        ) => Failure::usage(error),
        QueryError::Journal(error) => error.into(),
        error @ QueryError::UnknownColumn { .. } => {
            Failure::usage(error).advised("; `gamemaster query --columns` lists the columns")
        }
        error => Failure::usage(error),
    }
}
