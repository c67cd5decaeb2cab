//! Addresses as they may be shown.

/// An address whose user and password, or token, are named but not shown.
pub(crate) fn with_placeholder(url: &str) -> String {
    let shown = without_password(url);
    if shown == url {
        return shown;
    }
    let begin = shown.find("://").map_or(0, |scheme| scheme + 3);
    let secret = &url[begin..begin + url.len() - shown.len() - 1];
    let name = if secret.contains(':') { "USER:PASSWORD" } else { "TOKEN" };
    format!("{}{name}@{}", &shown[..begin], &shown[begin..])
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_named() {
        let check = |url, expected| assert_eq!(with_placeholder(url), expected);
        check("nats://me:secret@host:4222", "nats://USER:PASSWORD@host:4222");
        check("nats://secret@host:4222", "nats://TOKEN@host:4222");
        check("me:secret@host", "USER:PASSWORD@host");
        check("nats://host:4222", "nats://host:4222");
    }

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(without_password("nats://me:secret@host:port"), "nats://host:port");
        assert_eq!(without_password("me:secret@host"), "host");
    }
}
