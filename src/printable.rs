//! Text from elsewhere, as it may be printed.

/// The first characters of a text, at most `limit`, without those that a terminal obeys: control
/// characters, and marks that are not seen or turn the direction of the text around them.
pub(crate) fn printable(text: &str, limit: usize) -> String {
    let plain =
        |c: char| if c.is_control() || is_mark(c) { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().take(limit).map(plain).collect()
}

/// The characters of Unicode's category Cf that may stand in any text.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}
