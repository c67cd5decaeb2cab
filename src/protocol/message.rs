//! Messages from a Gamemaster to a player: printed as ggp-base spaces them, and
//! read as tolerantly as players must.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use games::{Expression, SyntaxError};

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Asks for the player's name and whether it is available. Also read from `PING`.
    Info,
    /// A game that may be played later.
    Preview {
        /// The rules.
        rules: Arc<[Expression]>,
        /// Time to look at them, in seconds.
        clock_s: u64,
    },
    /// A match begins.
    Start {
        /// The match.
        id: String,
        /// The receiver's role.
        role: Expression,
        /// The rules.
        rules: Arc<[Expression]>,
        /// Start clock in whole seconds.
        start_clock_s: u64,
        /// Play clock in whole seconds.
        play_clock_s: u64,
    },
    /// The last step, and the wish for a move.
    Play {
        /// The match.
        id: String,
        /// What the receiver learns of the last step.
        news: News,
    },
    /// The match is over.
    Stop {
        /// The match.
        id: String,
        /// What the receiver learns of the last step.
        news: News,
    },
    /// The match was aborted.
    Abort {
        /// The match.
        id: String,
    },
}

/// What a player learns of the last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// There was none.
    Nothing,
    /// The joint move; in a game of hidden information the receiver's percepts
    /// (Dresden's form of 2011). The START text tells which.
    List(Vec<Expression>),
    /// The official form of GDL-II.
    Percepts {
        /// Steps played so far.
        turn: u32,
        /// The receiver's own move as it was executed; none at the first.
        own_move: Option<Expression>,
        /// What the receiver saw.
        percepts: Vec<Expression>,
    },
}

/// Why a text is no message.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// It is no KIF.
    #[error("the message is not KIF")]
    Syntax(#[from] SyntaxError),
    /// It is no list that starts with a verb.
    #[error("the message has no verb; expected a list such as `(INFO)`")]
    NoVerb,
    /// The verb is not known.
    #[error("unknown verb `{0}`")]
    UnknownVerb(String),
    /// The arguments do not fit the verb.
    #[error("wrong arguments of `{verb}`; expected {expected}")]
    Arguments {
        /// The verb, in lower case.
        verb: &'static str,
        /// What it takes.
        expected: &'static str,
    },
}

/// Verbs in upper case, because libgdl knows no others.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Info => f.write_str("( INFO )"),
            Self::Preview { rules, clock_s } => {
                f.write_str("( PREVIEW ")?;
                write_list(f, rules)?;
                write!(f, " {clock_s} )")
            }
            Self::Start { id, role, rules, start_clock_s, play_clock_s } => {
                write!(f, "( START {id} {} ", Spaced(role))?;
                write_list(f, rules)?;
                write!(f, " {start_clock_s} {play_clock_s})")
            }
            Self::Play { id, news } => write!(f, "( PLAY {id} {news} )"),
            Self::Stop { id, news } => write!(f, "( STOP {id} {news} )"),
            Self::Abort { id } => write!(f, "( ABORT {id} )"),
        }
    }
}

impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("NIL"),
            Self::List(items) => write_list(f, items),
            Self::Percepts { turn, own_move: None, percepts } if percepts.is_empty() => {
                write!(f, "{turn} NIL NIL")
            }
            Self::Percepts { turn, own_move, percepts } => {
                write!(f, "{turn} ")?;
                match own_move {
                    Some(own_move) => write!(f, "{} ", Spaced(own_move))?,
                    None => f.write_str("NIL ")?,
                }
                write_list(f, percepts)
            }
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, items: &[Expression]) -> fmt::Result {
    f.write_str("(")?;
    for item in items {
        write!(f, "{} ", Spaced(item))?;
    }
    f.write_str(")")
}

/// A term with blanks inside the parentheses: `( mark 1 1 )`.
pub(crate) struct Spaced<'a>(pub(crate) &'a Expression);

impl fmt::Display for Spaced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expression::Atom(name) => f.write_str(name),
            Expression::List(items) => {
                f.write_str("( ")?;
                for item in items {
                    write!(f, "{} ", Spaced(item))?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Verbs in any case; further arguments of START are ignored, as ggp-base does;
/// any atom in place of a list of moves means that there is none.
impl FromStr for Message {
    type Err = MessageError;

    fn from_str(text: &str) -> Result<Self, MessageError> {
        let (expression, _) = Expression::parse_prefix(text)?;
        let Expression::List(items) = expression else { return Err(MessageError::NoVerb) };
        let mut items = items.into_iter();
        let Some(Expression::Atom(verb)) = items.next() else { return Err(MessageError::NoVerb) };
        let arguments: Vec<Expression> = items.collect();
        match verb.to_ascii_lowercase().as_str() {
            "info" | "ping" => Ok(Self::Info),
            "preview" => preview(arguments),
            "start" => start(arguments),
            "play" => news(arguments, "play").map(|(id, news)| Self::Play { id, news }),
            "stop" => news(arguments, "stop").map(|(id, news)| Self::Stop { id, news }),
            "abort" => match arguments.into_iter().next() {
                Some(Expression::Atom(id)) => Ok(Self::Abort { id }),
                _ => Err(MessageError::Arguments { verb: "abort", expected: "the match" }),
            },
            _ => Err(MessageError::UnknownVerb(verb)),
        }
    }
}

fn preview(arguments: Vec<Expression>) -> Result<Message, MessageError> {
    let mut arguments = arguments.into_iter();
    match (arguments.next(), arguments.next().as_ref().and_then(seconds)) {
        (Some(Expression::List(rules)), Some(clock_s)) => {
            Ok(Message::Preview { rules: rules.into(), clock_s })
        }
        _ => Err(MessageError::Arguments { verb: "preview", expected: "rules and a clock" }),
    }
}

fn start(arguments: Vec<Expression>) -> Result<Message, MessageError> {
    let wrong = || MessageError::Arguments {
        verb: "start",
        expected: "the match, a role, the rules and two clocks in seconds",
    };
    let mut arguments = arguments.into_iter();
    let mut next = || arguments.next().ok_or_else(wrong);
    let (Expression::Atom(id), role) = (next()?, next()?) else { return Err(wrong()) };
    let Expression::List(rules) = next()? else { return Err(wrong()) };
    let start_clock_s = seconds(&next()?).ok_or_else(wrong)?;
    let play_clock_s = seconds(&next()?).ok_or_else(wrong)?;
    Ok(Message::Start { id, role, rules: rules.into(), start_clock_s, play_clock_s })
}

fn seconds(expression: &Expression) -> Option<u64> {
    match expression {
        Expression::Atom(number) => number.parse().ok(),
        Expression::List(_) => None,
    }
}

fn news(arguments: Vec<Expression>, verb: &'static str) -> Result<(String, News), MessageError> {
    let wrong = || MessageError::Arguments {
        verb,
        expected: "the match, and moves, percepts, or turn, last move and percepts",
    };
    let mut arguments = arguments.into_iter();
    let Some(Expression::Atom(id)) = arguments.next() else { return Err(wrong()) };
    let news = match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(list), None, None) => match list {
            Expression::Atom(_) => News::Nothing,
            Expression::List(items) if items.is_empty() => News::Nothing,
            Expression::List(items) => News::List(items),
        },
        (Some(turn), Some(own_move), Some(percepts)) => {
            let turn = seconds(&turn).and_then(|turn| turn.try_into().ok()).ok_or_else(wrong)?;
            let is_nil =
                |e: &Expression| matches!(e, Expression::Atom(a) if a.eq_ignore_ascii_case("nil"));
            // An own move may be called `nil` in a game, but hardly at turn 0.
            let own_move = (turn > 0 || !is_nil(&own_move)).then_some(own_move);
            let percepts = match percepts {
                Expression::Atom(_) => Vec::new(),
                Expression::List(items) => items,
            };
            News::Percepts { turn, own_move, percepts }
        }
        _ => return Err(wrong()),
    };
    Ok((id, news))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(text: &str) -> Expression {
        Expression::parse(text).unwrap()
    }

    fn check(message: &Message, text: &str) {
        assert_eq!(message.to_string(), text);
        assert_eq!(&text.parse::<Message>().unwrap(), message);
    }

    fn start() -> Message {
        let rules = ["(role x)", "(<= (legal ?w (mark ?x)) (true (cell ?x b)))"].map(expression);
        Message::Start {
            id: "t.1".into(),
            role: expression("x"),
            rules: rules.into(),
            start_clock_s: 10,
            play_clock_s: 5,
        }
    }

    #[test]
    fn messages_are_spaced_as_ggp_base_does() {
        let id = || "test.tt.1".to_owned();
        let moves = || News::List(vec![expression("(mark 1 1)"), expression("noop")]);
        check(&Message::Info, "( INFO )");
        check(&Message::Play { id: id(), news: News::Nothing }, "( PLAY test.tt.1 NIL )");
        check(
            &Message::Play { id: id(), news: moves() },
            "( PLAY test.tt.1 (( mark 1 1 ) noop ) )",
        );
        check(
            &Message::Stop { id: id(), news: moves() },
            "( STOP test.tt.1 (( mark 1 1 ) noop ) )",
        );
        check(&Message::Stop { id: id(), news: News::Nothing }, "( STOP test.tt.1 NIL )");
        check(&Message::Abort { id: id() }, "( ABORT test.tt.1 )");
        check(
            &start(),
            "( START t.1 x (( role x ) ( <= ( legal ?w ( mark ?x ) ) ( true ( cell ?x b ) ) ) ) 10 5)",
        );
        let rules: Arc<[_]> = [expression("(role x)")].into();
        check(&Message::Preview { rules, clock_s: 3 }, "( PREVIEW (( role x ) ) 3 )");
    }

    #[test]
    fn percepts_take_the_official_form() {
        let id = || "m".to_owned();
        let first = News::Percepts { turn: 0, own_move: None, percepts: Vec::new() };
        check(&Message::Play { id: id(), news: first }, "( PLAY m 0 NIL NIL )");
        let none = News::Percepts { turn: 1, own_move: Some(expression("noop")), percepts: vec![] };
        check(&Message::Play { id: id(), news: none }, "( PLAY m 1 noop () )");
        let some = News::Percepts {
            turn: 2,
            own_move: Some(expression("(open 1)")),
            percepts: vec![expression("(does x noop)"), expression("car")],
        };
        check(
            &Message::Stop { id: id(), news: some },
            "( STOP m 2 ( open 1 ) (( does x noop ) car ) )",
        );
    }

    #[test]
    fn other_spellings_are_read() {
        let reads = |text: &str, message: Message| {
            assert_eq!(text.parse(), Ok(message), "{text}");
        };
        reads("(info)", Message::Info);
        reads("(Ping)", Message::Info);
        reads(
            "(START t.1 x ((role x)(<= (legal ?w (mark ?x)) (true (cell ?x b)))) 10 5 more (x))",
            start(),
        );
        reads("(Play M nil)", Message::Play { id: "M".into(), news: News::Nothing });
        reads("(PLAY m ())", Message::Play { id: "m".into(), news: News::Nothing });
        reads("(PLAY m whatever)\n", Message::Play { id: "m".into(), news: News::Nothing });
        let go = News::List(vec![expression("go")]);
        reads("(play m (go))", Message::Play { id: "m".into(), news: go });
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "hello",
            "()",
            "((play))",
            "play(id,nil)",
            "(start m x (rules) 1)",
            "(start m x rules 1 2)",
            "(start m x ((role x)) 1.5 2)",
            "(play)",
            "(play m 1 noop)",
            "(play (m) nil)",
            "(abort)",
            "(dance m)",
            "(play m nil",
        ] {
            assert!(text.parse::<Message>().is_err(), "{text}");
        }
    }
}
