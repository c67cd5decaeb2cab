//! Reads one HTTP reply from its bytes, as they come (RFC 9112).
//!
//! [`ReplyReader`] does no input or output. Before the first byte it holds nothing, since every
//! match that waits for players keeps one for each; later it holds the bytes that it has not
//! read yet and the body, within their limits. The grammar of the header and of chunk sizes is
//! httparse's.
//!
//! **Tolerance.** Lines may end in LF, invalid headers are ignored, interim replies are
//! skipped, a body shorter than promised is used as it came, and one longer is cut.
//! Without a length the body ends with the connection. Refused are bytes without a
//! status line, a transfer encoding under `HTTP/1.0`, and more than 100 headers.

use httparse::{EMPTY_HEADER, Header, ParserConfig, Status};

/// Maximum number of headers of a reply.
const MAX_HEADERS: usize = 100;

/// The first bytes of a header are parsed as they come, so that what is no HTTP is refused at
/// once. After this number of bytes it is parsed only when it is complete: to parse it with
/// each further byte would take time that grows with the square of its length.
const PROBE: usize = 64;

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The status code, such as 200.
    pub(crate) status: u16,
    /// The body.
    pub(crate) text: String,
}

/// Why bytes are no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReplyError {
    /// They are no HTTP: why.
    #[error("invalid HTTP reply ({0})")]
    Invalid(&'static str),
    /// They end before there is anything of a body.
    #[error("incomplete HTTP reply")]
    Incomplete,
    /// A part has more bytes than it may have.
    #[error("the {part} is longer than {most} bytes")]
    TooLong {
        /// Which one: `header` or `body`.
        part: &'static str,
        /// How many it may have.
        most: usize,
    },
}

/// Reads one reply.
#[derive(Debug)]
pub(crate) struct ReplyReader {
    max_header_bytes: usize,
    max_body_bytes: usize,
    /// Bytes that came and are not used yet.
    pending: Vec<u8>,
    /// How many of them are known not to end a line, or the header.
    n_searched: usize,
    stage: Stage,
    status: u16,
    body: Vec<u8>,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Header,
    /// The body, of which this number of bytes is left.
    Body(u64),
    /// The body, up to the end of the connection.
    Rest,
    ChunkSize,
    /// A chunk, of which this number of bytes is left.
    Chunk(u64),
    /// The line's end after a chunk.
    ChunkEnd,
    Trailers,
    Complete,
}

impl ReplyReader {
    /// For a reply whose header has at most `max_header_bytes`, and whose body has at most
    /// `max_body_bytes`.
    pub(crate) fn new(max_header_bytes: usize, max_body_bytes: usize) -> Self {
        Self {
            max_header_bytes,
            max_body_bytes,
            pending: Vec::new(),
            n_searched: 0,
            stage: Stage::Header,
            status: 0,
            body: Vec::new(),
        }
    }

    /// Takes the next bytes; the reply, if it is complete with them. Bytes after it are
    /// ignored.
    ///
    /// # Errors
    /// If this is no reply, or one that is too long.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<Option<Answer>, ReplyError> {
        self.pending.extend_from_slice(bytes);
        while self.stage != Stage::Complete {
            if !self.advance()? {
                return Ok(None);
            }
        }
        Ok(Some(self.answer()))
    }

    /// The reply, as far as it came, at the orderly end of the connection.
    ///
    /// # Errors
    /// If nothing of a body came that should have come.
    pub(crate) fn end(&self) -> Result<Answer, ReplyError> {
        match self.stage {
            Stage::Rest => Ok(self.answer()),
            _ => self.cut(),
        }
    }

    /// The reply, as far as it came, where the connection broke.
    ///
    /// # Errors
    /// If nothing of a body came.
    pub(crate) fn cut(&self) -> Result<Answer, ReplyError> {
        if self.body.is_empty() { Err(ReplyError::Incomplete) } else { Ok(self.answer()) }
    }

    fn answer(&self) -> Answer {
        let text = String::from_utf8_lossy(&self.body).trim().to_owned();
        Answer { status: self.status, text }
    }

    /// Uses some of the pending bytes; whether it could.
    fn advance(&mut self) -> Result<bool, ReplyError> {
        match self.stage {
            Stage::Header => self.read_header(),
            Stage::Body(n_left) => self.read_body(n_left, Stage::Body, Stage::Complete),
            Stage::Rest => self.read_body(u64::MAX, |_| Stage::Rest, Stage::Complete),
            Stage::Chunk(n_left) => self.read_body(n_left, Stage::Chunk, Stage::ChunkEnd),
            Stage::ChunkSize => {
                let Some(line) = self.line() else { return Ok(false) };
                let size = chunk_size(&self.pending[..line]);
                self.use_up(line);
                self.stage = match size {
                    Some(0) => Stage::Trailers,
                    Some(size) => Stage::Chunk(size),
                    None => return self.broken_chunk(),
                };
                Ok(true)
            }
            Stage::ChunkEnd => {
                let Some(line) = self.line() else { return Ok(false) };
                let is_blank = is_blank(&self.pending[..line]);
                self.use_up(line);
                self.stage = Stage::ChunkSize;
                if is_blank { Ok(true) } else { self.broken_chunk() }
            }
            Stage::Trailers => {
                let Some(line) = self.line() else { return Ok(false) };
                if is_blank(&self.pending[..line]) {
                    self.stage = Stage::Complete;
                }
                self.use_up(line);
                Ok(true)
            }
            Stage::Complete => Ok(false),
        }
    }

    /// The body ends where its chunks are broken.
    fn broken_chunk(&mut self) -> Result<bool, ReplyError> {
        self.cut().map_err(|_| ReplyError::Invalid("a chunk without a size"))?;
        self.stage = Stage::Complete;
        Ok(true)
    }

    /// Where the first pending line ends, if it does.
    fn line(&mut self) -> Option<usize> {
        let found = self.pending[self.n_searched..].iter().position(|&byte| byte == b'\n');
        let line = found.map(|index| self.n_searched + index + 1);
        self.n_searched = self.pending.len();
        line
    }

    /// Drops the first pending bytes.
    fn use_up(&mut self, n_bytes: usize) {
        self.pending.drain(..n_bytes);
        self.n_searched = 0;
    }

    /// Whether there is a blank line among the pending bytes that were not searched yet. It ends
    /// the header.
    fn has_blank_line(&mut self) -> bool {
        let from = self.n_searched.saturating_sub(3);
        let new = &self.pending[from..];
        self.n_searched = self.pending.len();
        new.windows(2).any(|pair| pair == b"\n\n") || new.windows(3).any(|three| three == b"\n\r\n")
    }

    fn read_header(&mut self) -> Result<bool, ReplyError> {
        let n_blank = self.pending.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        if n_blank > 0 {
            self.use_up(n_blank);
        }
        let too_long = ReplyError::TooLong { part: "header", most: self.max_header_bytes };
        let is_long = self.n_searched > PROBE;
        let is_complete = self.has_blank_line();
        if !is_complete && self.pending.len() > self.max_header_bytes {
            return Err(too_long);
        }
        if !is_complete && is_long {
            return Ok(false);
        }
        // On the heap, since the stack of a match keeps what it once had.
        let mut headers = vec![EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let parsed = grammar().parse_response(&mut response, &self.pending);
        let invalid = |error| match error {
            httparse::Error::TooManyHeaders => ReplyError::Invalid("more than 100 headers"),
            httparse::Error::Version => {
                ReplyError::Invalid("it does not begin with HTTP/1.0 or HTTP/1.1")
            }
            httparse::Error::Status => ReplyError::Invalid("no status code"),
            _ => ReplyError::Invalid("not a header"),
        };
        let length = match parsed.map_err(invalid)? {
            Status::Partial => return Ok(false),
            Status::Complete(length) if length > self.max_header_bytes => return Err(too_long),
            Status::Complete(length) => length,
        };
        let status = response.code.ok_or(ReplyError::Invalid("no status code"))?;
        let stage = framing(status, response.version == Some(1), response.headers)?;
        drop(headers);
        self.use_up(length);
        if let Some(stage) = stage {
            self.stage = stage;
            self.status = status;
        }
        match stage {
            Some(Stage::Body(length)) if length > self.max_body_bytes as u64 => {
                Err(self.body_too_long())
            }
            _ => Ok(true),
        }
    }

    /// Takes at most `n_left` bytes into the body; the stage is then `partial` with how many
    /// are left, or `complete`.
    fn read_body(
        &mut self,
        n_left: u64,
        partial: impl Fn(u64) -> Stage,
        complete: Stage,
    ) -> Result<bool, ReplyError> {
        let n_taken = usize::try_from(n_left).unwrap_or(usize::MAX).min(self.pending.len());
        if self.body.len() + n_taken > self.max_body_bytes {
            return Err(self.body_too_long());
        }
        self.body.extend_from_slice(&self.pending[..n_taken]);
        self.use_up(n_taken);
        let n_left = n_left - n_taken as u64;
        self.stage = if n_left == 0 { complete } else { partial(n_left) };
        Ok(n_left == 0)
    }

    fn body_too_long(&self) -> ReplyError {
        ReplyError::TooLong { part: "body", most: self.max_body_bytes }
    }
}

/// As tolerant as httparse can be.
fn grammar() -> ParserConfig {
    let mut grammar = ParserConfig::default();
    grammar
        .allow_multiple_spaces_in_response_status_delimiters(true)
        .allow_space_before_first_header_name(true)
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .ignore_invalid_headers_in_responses(true);
    grammar
}

/// What comes after a header (RFC 9112, section 6.3); `None` after an interim reply.
fn framing(
    status: u16,
    is_http_1_1: bool,
    headers: &[Header<'_>],
) -> Result<Option<Stage>, ReplyError> {
    let values = |name: &'static str| {
        let named = headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
        named.map(|header| header.value.trim_ascii())
    };
    match status {
        101 | 204 | 304 => return Ok(Some(Stage::Complete)),
        100..=199 => return Ok(None),
        _ => {}
    }
    if let Some(encodings) = values("transfer-encoding").next_back() {
        let last = encodings.rsplit(|&byte| byte == b',').next().unwrap_or_default();
        return match last.trim_ascii().eq_ignore_ascii_case(b"chunked") {
            _ if !is_http_1_1 => Err(ReplyError::Invalid("a transfer encoding in HTTP/1.0")),
            true => Ok(Some(Stage::ChunkSize)),
            false => Ok(Some(Stage::Rest)),
        };
    }
    let mut lengths =
        values("content-length").flat_map(|value| value.split(|&byte| byte == b',')).map(length);
    let Some(first) = lengths.next() else { return Ok(Some(Stage::Rest)) };
    let length = first.filter(|_| lengths.all(|other| other == first));
    Ok(Some(Stage::Body(length.ok_or(ReplyError::Invalid("not a valid Content-Length"))?)))
}

/// A length in decimal digits.
fn length(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The size in the first line of a chunk.
fn chunk_size(line: &[u8]) -> Option<u64> {
    // A line without digits would count as 0, which ends the body.
    line.first().filter(|byte| byte.is_ascii_hexdigit())?;
    let line = [line.trim_ascii_end(), b"\r\n"].concat();
    match httparse::parse_chunk_size(&line) {
        Ok(Status::Complete((_, size))) => Some(size),
        _ => None,
    }
}

fn is_blank(line: &[u8]) -> bool {
    matches!(line, b"\n" | b"\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 64 << 10;

    /// The status and text of a reply.
    type Read = Result<(u16, String), ReplyError>;

    /// Reads a reply whose bytes come in pieces of `size`.
    fn read(bytes: &[u8], size: usize) -> Read {
        let mut reader = ReplyReader::new(MOST, MOST);
        for piece in bytes.chunks(size) {
            if let Some(Answer { status, text }) = reader.take(piece)? {
                return Ok((status, text));
            }
        }
        reader.end().map(|Answer { status, text }| (status, text))
    }

    /// Whatever pieces the network makes of it, a reply is the same.
    #[test]
    fn replies_are_the_same_in_all_pieces() {
        let invalid = |why| Err(ReplyError::Invalid(why));
        let no_length = || invalid("not a valid Content-Length");
        let no_size = || invalid("a chunk without a size");
        let no_http = || invalid("it does not begin with HTTP/1.0 or HTTP/1.1");
        let ok = |text: &str| Ok((200, text.to_owned()));
        let replies: [(&[u8], Read); 20] = [
            (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnoop and more", ok("noop")),
            (b"HTTP/1.1 200 OK\nContent-Length: 4, 4\nContent-Length: 4\n\nnoop", ok("noop")),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 4, 5\r\n\r\nnoop", no_length()),
            (b"HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\nnoop", no_length()),
            (b"HTTP/1.0 200 OK\r\n\r\nnoop", ok("noop")),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nnoop", ok("noop")),
            (
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: x, Chunked\r\n\r\n\
                  2;a=b\r\nno\r\nA\r\nop and mor\r\n0\r\nT: 1\r\n\r\nrest",
                ok("noop and mor"),
            ),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nnoXX1\r\n", ok("no")),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
                no_size(),
            ),
            (b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nnoop", Ok((204, String::new()))),
            (
                b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nwhy",
                Ok((500, "why".to_owned())),
            ),
            (b"HTTP/1.1 200 OK\r\nContent-Len", Err(ReplyError::Incomplete)),
            (b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nnoop", no_length()),
            (b"HTTP/1.1  200  OK\r\n A: b\r\nContent-Length: 4\r\n\r\nnoop", ok("noop")),
            (b"\r\n\nHTTP/1.1 200\r\nContent-Length: 4\r\n\r\nnoop", ok("noop")),
            (
                b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nnoop\r\n0\r\n\r\n",
                Err(ReplyError::Invalid("a transfer encoding in HTTP/1.0")),
            ),
            (b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nno\n2 ;a\nop\n0\n\n", ok("noop")),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n\r\n", ok("no")),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n;a=b\r\n\r\n", no_size()),
            (b"<html>This is the page of a server that is no player at all</html>\r\n", no_http()),
        ];
        for (bytes, expected) in replies {
            for size in [1, 2, 3, 7, 1000] {
                let shown = String::from_utf8_lossy(bytes);
                assert_eq!(read(bytes, size), expected, "in pieces of {size}: {shown:?}");
            }
        }
    }

    #[test]
    fn what_is_no_http_is_refused_at_once() {
        let page = "<html>".repeat(100);
        for bytes in ["(mark", &page] {
            let mut reader = ReplyReader::new(MOST, MOST);
            assert_eq!(
                reader.take(bytes.as_bytes()),
                Err(ReplyError::Invalid("it does not begin with HTTP/1.0 or HTTP/1.1")),
                "{bytes}"
            );
        }
    }

    #[test]
    fn a_reply_has_at_most_100_headers() {
        let of = |n_headers: usize| {
            let headers = "A: b\r\n".repeat(n_headers);
            read(format!("HTTP/1.1 200 OK\r\n{headers}\r\nnoop").as_bytes(), 1000)
        };
        assert_eq!(of(MAX_HEADERS), Ok((200, "noop".to_owned())));
        assert_eq!(of(MAX_HEADERS + 1), Err(ReplyError::Invalid("more than 100 headers")));
    }

    /// Where a connection breaks, nothing says that a body without a length was complete.
    #[test]
    fn a_broken_connection_ends_no_empty_body() {
        let mut reader = ReplyReader::new(MOST, MOST);
        assert_eq!(reader.take(b"HTTP/1.0 200 OK\r\n\r\n"), Ok(None));
        assert_eq!(reader.cut(), Err(ReplyError::Incomplete));
        assert_eq!(reader.end(), Ok(Answer { status: 200, text: String::new() }));
        assert_eq!(reader.take(b"noop"), Ok(None));
        assert_eq!(reader.cut(), Ok(Answer { status: 200, text: "noop".to_owned() }));
    }

    #[test]
    fn parts_keep_their_limits() {
        let header = [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'x'; MOST]].concat();
        let too_long = |part| Err(ReplyError::TooLong { part, most: MOST });
        assert_eq!(read(&header, 1000), too_long("header"));
        let ended = [&header, b"\r\n\r\nnoop".as_slice()].concat();
        assert_eq!(read(&ended, ended.len()), too_long("header"));
        let after_another = [b"HTTP/1.1 103 Early\r\n\r\n".as_slice(), &header].concat();
        assert_eq!(read(&after_another, 1000), too_long("header"));
        let body = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &[b'x'; MOST + 1]].concat();
        assert_eq!(read(&body, 1000), too_long("body"));
        let promised = b"HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n";
        assert_eq!(read(promised, 1000), too_long("body"));
    }
}
