//! The values of a game's states as a table: small, and the same for every reasoner.
//!
//! A state is looked up by its [`StateKey`]. Its first bits choose a bucket, and of the
//! rest only [`KEY_BYTES`] bytes are kept, sorted within the bucket: enough that no two
//! states of the table are taken for each other, which is checked when it is made. A
//! state that is not in the table is taken for one that is with a probability of about
//! 2^-32. Terminal states are left out: the rules say what they are worth.

use std::io::{self, Read, Write};

use rustc_hash::FxHashMap;

use super::blocks::run;
use super::crew::{Crew, Task};
use crate::key::text_bits;
use crate::split_mix::finalise;
use crate::{Game, StateKey};

/// Bytes of a state's key that are kept besides its bucket.
const KEY_BYTES: usize = 5;

/// States of a bucket, on average at least.
const BUCKET: u64 = 128;

/// Bits of the bucket at most, so that the bytes of the key lie within 64 bits.
const MAX_BUCKET_BITS: u32 = 24;

/// The first bytes of a table.
const MAGIC: &[u8; 8] = b"gm-table";

/// Changes when tables can no longer be read.
const VERSION: u32 = 1;

/// Identifies the rules of a game, whatever their layout and comments, and whatever state
/// it begins in.
///
/// ```
/// use games::solve::GameHash;
///
/// let text = "00112233445566778899aabbccddeeff";
/// assert_eq!(text.parse::<GameHash>().map(|hash| hash.to_string()), Ok(text.to_owned()));
/// assert!("0011".parse::<GameHash>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameHash(u128);

impl GameHash {
    /// Its bits.
    pub(super) fn bits(self) -> u128 {
        self.0
    }

    /// The hash of a game's rules: of all forms in file order but those that say what
    /// holds initially. So a table of what follows from a later state, an endgame, serves
    /// the whole game.
    #[must_use]
    pub fn of(game: &Game) -> Self {
        Self(text_bits(game.forms_without_init()))
    }
}

impl std::fmt::Display for GameHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A text is not 32 hexadecimal digits, as a [`GameHash`] is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the hash of a game has 32 hexadecimal digits")]
pub struct NoGameHash;

/// Reads what `Display` writes.
impl std::str::FromStr for GameHash {
    type Err = NoGameHash;

    fn from_str(text: &str) -> Result<Self, NoGameHash> {
        let is_plain = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bits = u128::from_str_radix(text, 16).ok().filter(|_| is_plain);
        bits.map(Self).ok_or(NoGameHash)
    }
}

/// What a table says of the whole game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Reachable states.
    pub n_states: u64,
    /// Terminal ones among them.
    pub n_terminal: u64,
    /// Steps to the states that take the most steps to reach, by the shortest way.
    pub depth: u32,
}

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Reading failed.
    #[error("cannot read the table")]
    Io(#[from] io::Error),
    /// It does not begin like a table.
    #[error("not a table of `gamemaster solve`")]
    NoTable,
    /// It is of another version.
    #[error(
        "the table has format version {found}, and this program reads version {VERSION}; solve the game again"
    )]
    Version {
        /// The version of the table.
        found: u32,
    },
    /// The content is not what was written.
    #[error("the table is damaged: {0}")]
    Damaged(&'static str),
}

/// Calls a visitor with the key of each state and the code of its value.
pub(super) type EachState<'a> = dyn Fn(&mut dyn FnMut(StateKey, u32)) + 'a;

/// The states of a table.
pub(super) struct Entries<'a> {
    pub(super) n_states: u64,
    pub(super) n_roles: usize,
    /// By code, a number for each role.
    pub(super) values: Vec<f64>,
    pub(super) each: &'a EachState<'a>,
}

/// The values of all reachable states of a game that are not terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueTable {
    game: GameHash,
    summary: Summary,
    n_roles: usize,
    /// By code: the expected reward of each role.
    values: Vec<f64>,
    salt: u64,
    bucket_bits: u32,
    /// By bucket: its first state, and the end.
    buckets: Vec<u64>,
    /// By state: the rest of its key, big-endian.
    keys: Vec<u8>,
    code_bits: u32,
    /// By state: the code of its value, packed.
    codes: Vec<u64>,
    checksum: u64,
}

impl ValueTable {
    /// A table of these states. Making it takes about
    /// `memory_bytes` besides the table.
    pub(super) fn new(
        game: GameHash,
        summary: Summary,
        entries: Entries<'_>,
        memory_bytes: u64,
        crew: &dyn Crew,
    ) -> Self {
        let Entries { n_states, n_roles, values, each } = entries;
        let n_codes = values.len() / n_roles.max(1);
        let code_bits = n_codes.next_power_of_two().trailing_zeros();
        let mut bucket_bits = 0;
        while bucket_bits < MAX_BUCKET_BITS && n_states >> (bucket_bits + 1) >= BUCKET {
            bucket_bits += 1;
        }
        let mut table = Self {
            game,
            summary,
            n_roles,
            values,
            salt: 0,
            bucket_bits,
            buckets: Vec::new(),
            keys: Vec::new(),
            code_bits,
            codes: Vec::new(),
            checksum: 0,
        };
        while !table.fill(n_states, each, memory_bytes, crew) {
            table.salt += 1;
        }
        table.checksum = table.write_content(&mut io::sink()).expect("a sink takes all");
        table
    }

    /// Enters all states; `false` if two of them look the same with this salt.
    fn fill(
        &mut self,
        n_states: u64,
        each: &EachState<'_>,
        memory_bytes: u64,
        crew: &dyn Crew,
    ) -> bool {
        const N_PARTS: usize = 256;
        let part = |hash: u64| (hash >> 56) as usize;
        let mut sizes = vec![0_usize; N_PARTS];
        each(&mut |key, _| sizes[part(self.hash(key))] += 1);
        self.buckets = Vec::with_capacity((1 << self.bucket_bits) + 1);
        self.keys = Vec::with_capacity(n_states as usize * KEY_BYTES);
        self.codes = vec![0; (n_states as usize * self.code_bits as usize).div_ceil(64)];
        // In order, as many parts at a time as the memory allows.
        let n_most = (memory_bytes / size_of::<(u64, u32)>() as u64) as usize;
        let mut last = None;
        let mut first = 0;
        while first < N_PARTS {
            let mut n = 0;
            let fits = |size: &&usize| {
                n += **size;
                n <= n_most
            };
            let until = first + sizes[first..].iter().take_while(fits).count().max(1);
            let mut parts: Vec<Vec<(u64, u32)>> =
                sizes[first..until].iter().map(|&size| Vec::with_capacity(size)).collect();
            each(&mut |key, code| {
                let hash = self.hash(key);
                if (first..until).contains(&part(hash)) {
                    parts[part(hash) - first].push((hash, code));
                }
            });
            let queue = std::sync::Mutex::new(parts.iter_mut());
            let sort = || {
                while let Some(part) = { queue.lock().expect("sorting does not panic").next() } {
                    part.sort_unstable();
                }
            };
            let n_tasks = if n_states < 100_000 { 1 } else { crew.n_workers() };
            run(crew, (0..n_tasks).map(|_| Box::new(sort) as Task<'_>).collect());
            for (hash, code) in parts.into_iter().flatten() {
                let here = self.split(hash);
                if last.replace(here) == Some(here) {
                    return false;
                }
                self.push(here, code);
            }
            first = until;
        }
        let n = self.len() as u64;
        self.buckets.resize((1 << self.bucket_bits) + 1, n);
        true
    }

    /// Adds a state after all others.
    fn push(&mut self, (bucket, rest): (u64, u64), code: u32) {
        let n = self.len();
        while self.buckets.len() as u64 <= bucket {
            self.buckets.push(n as u64);
        }
        self.keys.extend_from_slice(&rest.to_be_bytes()[8 - KEY_BYTES..]);
        if self.code_bits > 0 {
            let bit = n * self.code_bits as usize;
            let code = u64::from(code);
            self.codes[bit / 64] |= code << (bit % 64);
            if bit % 64 + self.code_bits as usize > 64 {
                self.codes[bit / 64 + 1] |= code >> (64 - bit % 64);
            }
        }
    }

    fn hash(&self, key: StateKey) -> u64 {
        let bits = key.bits();
        finalise(bits as u64 ^ finalise((bits >> 64) as u64 ^ self.salt))
    }

    /// The bucket of a hash, and the rest of its key.
    fn split(&self, hash: u64) -> (u64, u64) {
        let rest = hash << self.bucket_bits >> (64 - 8 * KEY_BYTES);
        (hash.checked_shr(64 - self.bucket_bits).unwrap_or(0), rest)
    }

    /// The game whose states it has.
    #[must_use]
    pub fn game(&self) -> GameHash {
        self.game
    }

    /// What it says of the whole game.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// The checksum of all that a file has of it: tables with different content differ in it,
    /// but for a chance of about 2^-64.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        self.checksum
    }

    /// Number of roles, `random` included.
    #[must_use]
    pub fn n_roles(&self) -> usize {
        self.n_roles
    }

    /// Number of states in it: those that are not terminal.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len() / KEY_BYTES
    }

    /// Whether it has no state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Bytes of the table in memory and, but for its header, in a file.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        (8 * self.values.len() + 8 * self.buckets.len() + self.keys.len() + 8 * self.codes.len())
            as u64
    }

    /// Whether the rewards of all roles have the same sum in all its states.
    #[must_use]
    pub fn is_constant_sum(&self) -> bool {
        let sums: Vec<f64> =
            self.values.chunks(self.n_roles).map(|value| value.iter().sum()).collect();
        sums.windows(2).all(|pair| (pair[0] - pair[1]).abs() < 1e-6)
    }

    /// The expected reward of each role under best play from the state with this key, 0
    /// for the role `random`. `None` if the state is terminal or cannot be reached.
    #[must_use]
    pub fn value(&self, key: StateKey) -> Option<&[f64]> {
        let (bucket, rest) = self.split(self.hash(key));
        let rest = &rest.to_be_bytes()[8 - KEY_BYTES..];
        let bucket = bucket as usize;
        let (mut low, mut high) =
            (self.buckets[bucket] as usize, self.buckets[bucket + 1] as usize);
        while low < high {
            let middle = (low + high) / 2;
            match self.keys[middle * KEY_BYTES..][..KEY_BYTES].cmp(rest) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(self.value_at(middle)),
            }
        }
        None
    }

    fn value_at(&self, state: usize) -> &[f64] {
        let mut code = 0;
        if self.code_bits > 0 {
            let bit = state * self.code_bits as usize;
            code = self.codes[bit / 64] >> (bit % 64);
            if bit % 64 + self.code_bits as usize > 64 {
                code |= self.codes[bit / 64 + 1] << (64 - bit % 64);
            }
            code &= (1 << self.code_bits) - 1;
        }
        &self.values[code as usize * self.n_roles..][..self.n_roles]
    }

    /// Writes the table: the magic word, format version, game hash, figures, the arrays
    /// and a checksum, all numbers little-endian.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let checksum = self.write_content(out)?;
        out.write_all(&checksum.to_le_bytes())
    }

    /// Writes all but the checksum, and returns that.
    fn write_content(&self, out: &mut impl Write) -> io::Result<u64> {
        let mut out = Summed { inner: out, sum: 0, n: 0 };
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&self.game.0.to_le_bytes())?;
        let Summary { n_states, n_terminal, depth } = self.summary;
        let numbers = [
            n_states,
            n_terminal,
            depth.into(),
            self.n_roles as u64,
            self.values.len() as u64,
            self.salt,
            self.bucket_bits.into(),
            self.code_bits.into(),
            self.len() as u64,
        ];
        numbers.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
        self.values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))?;
        self.buckets.iter().try_for_each(|first| out.write_all(&first.to_le_bytes()))?;
        out.write_all(&self.keys)?;
        self.codes.iter().try_for_each(|codes| out.write_all(&codes.to_le_bytes()))?;
        Ok(out.sum)
    }

    /// Reads what [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// If it is no table, of another version, or damaged.
    pub fn read(input: &mut impl Read) -> Result<Self, TableError> {
        let mut input = Summed { inner: input, sum: 0, n: 0 };
        let mut magic = [0; 8];
        match input.read_exact(&mut magic) {
            Ok(()) if magic == *MAGIC => {}
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error.into()),
            _ => return Err(TableError::NoTable),
        }
        let found = u32::from_le_bytes(input.bytes()?);
        if found != VERSION {
            return Err(TableError::Version { found });
        }
        let game = GameHash(u128::from_le_bytes(input.bytes()?));
        let mut numbers = [0_u64; 9];
        for number in &mut numbers {
            *number = u64::from_le_bytes(input.bytes()?);
        }
        let [n_states, n_terminal, depth, n_roles, n_values, salt, bucket_bits, code_bits, n] =
            numbers;
        let is_sound = (1..=255).contains(&n_roles)
            && bucket_bits <= u64::from(MAX_BUCKET_BITS)
            && code_bits <= 32
            && n < 1 << 33
            && n_values <= n_roles << 32
            && n_values >= n_roles
            && depth <= u64::from(u32::MAX);
        if !is_sound {
            return Err(TableError::Damaged("its figures are impossible"));
        }
        let values = input.words(n_values)?.into_iter().map(f64::from_bits).collect();
        let buckets = input.words((1 << bucket_bits) + 1)?;
        let keys = input.many(n * KEY_BYTES as u64)?;
        let codes = input.words((n * code_bits).div_ceil(64))?;
        let sum = input.sum;
        if u64::from_le_bytes(input.bytes()?) != sum {
            return Err(TableError::Damaged("its checksum differs"));
        }
        if input.inner.read(&mut [0])? != 0 {
            return Err(TableError::Damaged("more bytes follow its end"));
        }
        let is_ascending = buckets.windows(2).all(|pair| pair[0] <= pair[1]);
        if !is_ascending || buckets[0] != 0 || buckets.last() != Some(&n) {
            return Err(TableError::Damaged("its buckets are out of order"));
        }
        let table = Self {
            game,
            summary: Summary { n_states, n_terminal, depth: depth as u32 },
            n_roles: n_roles as usize,
            values,
            salt,
            bucket_bits: bucket_bits as u32,
            buckets,
            keys,
            code_bits: code_bits as u32,
            codes,
            checksum: sum,
        };
        Ok(table)
    }
}

/// The codes of values, each different one once.
#[derive(Debug, Default)]
pub(super) struct Palette {
    codes: FxHashMap<Vec<u64>, u32>,
    values: Vec<Vec<f64>>,
}

impl Palette {
    /// The code of a value.
    pub(super) fn code(&mut self, value: &[f64]) -> u32 {
        let bits: Vec<u64> = value.iter().map(|value| value.to_bits()).collect();
        let next = self.codes.len() as u32;
        *self.codes.entry(bits).or_insert_with(|| {
            self.values.push(value.to_vec());
            next
        })
    }

    /// The values in ascending order, which does not depend on how they were found; and
    /// by code the place of its value among them.
    pub(super) fn sorted(self) -> (Vec<f64>, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.values.len() as u32).collect();
        let value = |code: u32| &self.values[code as usize];
        order.sort_by(|&one, &other| {
            let mut pairs = value(one).iter().zip(value(other));
            let found =
                pairs.find_map(|(one, other)| Some(one.total_cmp(other)).filter(|it| it.is_ne()));
            found.unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut places = vec![0; order.len()];
        for (place, &code) in order.iter().enumerate() {
            places[code as usize] = place as u32;
        }
        (order.iter().flat_map(|&code| value(code)).copied().collect(), places)
    }
}

/// A reader or writer that sums up what passes.
struct Summed<T> {
    inner: T,
    sum: u64,
    n: u64,
}

impl<T> Summed<T> {
    /// Adds bytes, eight at a time. The same bytes must pass in the same pieces.
    fn add(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.n += 1;
            self.sum = finalise(self.sum ^ u64::from_le_bytes(word)).wrapping_add(self.n);
        }
    }
}

impl<W: Write> Write for Summed<&mut W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write_all(bytes)?;
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Summed<&mut R> {
    fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.add(bytes);
        Ok(())
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], TableError> {
        let mut bytes = [0; N];
        self.read_exact(&mut bytes).map_err(short)?;
        Ok(bytes)
    }

    /// So many bytes. Memory is taken as they come, so that a damaged number asks for no
    /// more than there is.
    fn many(&mut self, n: u64) -> Result<Vec<u8>, TableError> {
        let mut bytes = Vec::new();
        let read = (&mut *self.inner).take(n).read_to_end(&mut bytes)?;
        if read as u64 != n {
            return Err(TableError::Damaged("it ends early"));
        }
        self.add(&bytes);
        Ok(bytes)
    }

    fn words(&mut self, n: u64) -> Result<Vec<u64>, TableError> {
        let bytes = self.many(n * 8)?;
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Ok(bytes.chunks_exact(8).map(word).collect())
    }
}

/// A table that ends early is damaged.
fn short(error: io::Error) -> TableError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => TableError::Damaged("it ends early"),
        _ => TableError::Io(error),
    }
}
