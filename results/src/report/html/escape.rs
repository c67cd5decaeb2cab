//! Text for HTML: whatever a player or a game is called, it stays text.

use std::fmt;

/// Text that shows as it is, in an element or in an attribute within double
/// quotes. Control characters, and characters that turn the direction of the
/// text around them, are shown as the replacement character.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(' ')?,
                c if c.is_control() || turns(c) => f.write_char('\u{fffd}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// Marks, embeddings, overrides and isolates of the bidirectional algorithm.
fn turns(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON that may stand in a `script` element: nothing in it ends the element.
pub(super) fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// At most `n` characters of `text`, the last an ellipsis if there were more.
pub(super) fn shortened(text: &str, n: usize) -> String {
    if text.chars().count() <= n {
        return text.to_owned();
    }
    text.chars().take(n.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        let text = "<b a='x' b=\"y\">&amp;\n\u{202e}\0";
        let expected = "&lt;b a=&#39;x&#39; b=&quot;y&quot;&gt;&amp;amp; \u{fffd}\u{fffd}";
        assert_eq!(Escaped(text).to_string(), expected);
        assert_eq!(json_in_script("\"</script>\""), "\"\\u003c/script\\u003e\"");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("äöüß", 3), "äö…");
    }
}
