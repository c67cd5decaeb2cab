//! Addresses as they may be shown.

/// An address that may hold `user:password@`, without it.
pub(crate) fn without_password(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => {
            format!("{}{}", &url[..scheme + 3], &url[at + 1..])
        }
        (None, Some(at)) => url[at + 1..].to_owned(),
        _ => url.to_owned(),
    }
}
