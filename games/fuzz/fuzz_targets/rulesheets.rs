//! Any bytes as a rulesheet: read, printed, validated, ground and played.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/reasoning/agreement.rs"]
mod agreement;
#[path = "../../tests/reasoning/any_text.rs"]
mod any_text;
#[path = "../../tests/language/consistent.rs"]
mod consistent;

fuzz_target!(|text: &[u8]| {
    consistent::check_consistent(text);
    any_text::check(text);
});
