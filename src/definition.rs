//! What a sequence is: its name and its definition, valid by construction.

use std::convert::Infallible;
use std::fmt;
use std::num::NonZeroI64;
use std::str::FromStr;

use unicode_normalization::is_nfc;

use crate::range::{self, IdRange};

/// The name of a sequence: 1 to 255 bytes of NFC UTF-8 without control characters.
///
/// Names are compared byte by byte: `Orders` and `orders` are two sequences. They are always bound as
/// parameters, so quotes and spaces are as good as letters.
///
/// ```
/// use lamport_seq::SequenceName;
///
/// assert_eq!(SequenceName::new("o'brien")?.as_str(), "o'brien");
/// assert!(SequenceName::new("").is_err());
/// assert!(SequenceName::new("cafe\u{301}").is_err(), "decomposed: not NFC");
/// # Ok::<(), lamport_seq::InvalidName>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SequenceName(Box<str>);

/// Text that cannot name a sequence, and why. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidName {
    /// The empty string.
    #[error("a sequence's name is 1 to 255 bytes long; this one is empty")]
    Empty,
    /// More than 255 bytes.
    #[error("a sequence's name is 1 to 255 bytes long; this one has {0} bytes")]
    TooLong(usize),
    /// A control character, of which this is the code point.
    #[error("a sequence's name has no control characters; this one holds U+{0:04X}")]
    ControlCharacter(u32),
    /// Unicode that is not in Normalization Form C, so that another spelling of it looks the same.
    #[error(
        "a sequence's name is in Unicode form NFC; {0:?} is not: two spellings would look the same"
    )]
    NotNfc(String),
}

impl From<Infallible> for InvalidName {
    /// For the sake of functions that take anything that can be a name: a name can.
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl SequenceName {
    /// The longest name, in bytes of UTF-8.
    pub const MAX_BYTES: usize = 255;

    /// A name, if `name` can be one.
    pub fn new(name: impl Into<Box<str>>) -> Result<Self, InvalidName> {
        let name = name.into();
        if name.is_empty() {
            return Err(InvalidName::Empty);
        }
        if name.len() > Self::MAX_BYTES {
            return Err(InvalidName::TooLong(name.len()));
        }
        if let Some(control) = name.chars().find(|c| c.is_control()) {
            return Err(InvalidName::ControlCharacter(control.into()));
        }
        if !is_nfc(&name) {
            return Err(InvalidName::NotNfc(name.into()));
        }
        Ok(Self(name))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as the last argument of a command in a POSIX shell, for hints that can be pasted: quoted where it
    /// must be, and behind `--` where it would pass for an option.
    ///
    /// ```
    /// # use lamport_seq::SequenceName;
    /// let argument = |name| SequenceName::new(name).map(|name| name.shell_argument());
    /// assert_eq!(argument("orders")?, "orders");
    /// assert_eq!(argument("o'brien")?, r"'o'\''brien'");
    /// assert_eq!(argument("-x y")?, "-- '-x y'");
    /// # Ok::<(), lamport_seq::InvalidName>(())
    /// ```
    pub fn shell_argument(&self) -> String {
        let word = shell_word(&self.0);
        if self.0.starts_with('-') { format!("-- {word}") } else { word }
    }
}

/// A word for a POSIX shell, quoted where it must be.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+,=".contains(c);
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

impl fmt::Display for SequenceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SequenceName {
    type Err = InvalidName;
    fn from_str(name: &str) -> Result<Self, InvalidName> {
        Self::new(name)
    }
}

impl TryFrom<&str> for SequenceName {
    type Error = InvalidName;
    fn try_from(name: &str) -> Result<Self, InvalidName> {
        Self::new(name)
    }
}

impl TryFrom<String> for SequenceName {
    type Error = InvalidName;
    fn try_from(name: String) -> Result<Self, InvalidName> {
        Self::new(name)
    }
}

impl TryFrom<&SequenceName> for SequenceName {
    type Error = InvalidName;
    fn try_from(name: &SequenceName) -> Result<Self, InvalidName> {
        Ok(name.clone())
    }
}

/// Which ids a sequence gives: where it starts, how far apart they are, and between which bounds.
///
/// It is stored with the sequence and immutable, but that its bounds can be widened (S10). The words and the
/// defaults are those of PostgreSQL's `CREATE SEQUENCE`: a rising sequence starts at 1 and ends with the
/// largest bigint, a falling one starts at -1 and ends with the smallest. There is no `CYCLE`.
///
/// # Example: ids for a 32-bit column that another system fills up to 5000
///
/// ```
/// use lamport_seq::Definition;
///
/// let definition = Definition::builder().int().start_value(5001).build()?;
/// assert_eq!((definition.start_value(), definition.max_value()), (5001, 2_147_483_647));
/// # Ok::<(), lamport_seq::InvalidDefinition>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Definition {
    start_value: i64,
    increment_by: NonZeroI64,
    min_value: i64,
    max_value: i64,
    strict: bool,
}

/// A definition that cannot be, and why. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidDefinition {
    /// `increment_by` is 0.
    #[error("increment_by must not be 0")]
    ZeroIncrement,
    /// The lower bound is not below the upper one.
    #[error("min_value {min_value} must be less than max_value {max_value}")]
    EmptyBounds {
        /// The lower bound.
        min_value: i64,
        /// The upper bound.
        max_value: i64,
    },
    /// The first id is outside the bounds.
    #[error(
        "start_value {start_value} is not between min_value {min_value} and max_value {max_value}"
    )]
    StartOutOfBounds {
        /// The first id.
        start_value: i64,
        /// The lower bound.
        min_value: i64,
        /// The upper bound.
        max_value: i64,
    },
    /// The row of a new sequence holds `start_value - increment_by`, which is no bigint here.
    #[error(
        "start_value {start_value} with increment_by {increment_by} can't be stored: a new sequence's row \
         holds start_value - increment_by, which is no bigint; start at least one increment later"
    )]
    StartTooNearTheEdge {
        /// The first id.
        start_value: i64,
        /// The distance between ids.
        increment_by: i64,
    },
}

impl Default for Definition {
    /// PostgreSQL's defaults: 1, 2, 3 and so on up to 9223372036854775807.
    fn default() -> Self {
        Self { start_value: 1, increment_by: ONE, min_value: 1, max_value: i64::MAX, strict: false }
    }
}

const ONE: NonZeroI64 = NonZeroI64::new(1).expect("1 is not 0");

/// A jump of at most this many ids needs nobody's consent (S12).
const SMALL_JUMP: u64 = 1_000_000;

impl Definition {
    /// Starts a definition with PostgreSQL's defaults.
    pub fn builder() -> DefinitionBuilder {
        DefinitionBuilder::default()
    }

    /// What a row without definition means: one by one over all bigints (S10).
    pub(crate) fn undefined() -> Self {
        Self { min_value: i64::MIN, ..Self::default() }
    }

    /// The first id.
    pub const fn start_value(&self) -> i64 {
        self.start_value
    }

    /// The distance from one id to the next; negative for a falling sequence.
    pub const fn increment_by(&self) -> i64 {
        self.increment_by.get()
    }

    /// The smallest id that may be given.
    pub const fn min_value(&self) -> i64 {
        self.min_value
    }

    /// The largest id that may be given.
    pub const fn max_value(&self) -> i64 {
        self.max_value
    }

    /// Whether the ids are linearizable over all clients (S15).
    pub const fn is_strict(&self) -> bool {
        self.strict
    }

    /// The value of a new sequence's row: the id before the first. Checked when the definition was built.
    pub(crate) fn initial_value(&self) -> i64 {
        self.start_value.wrapping_sub(self.increment_by.get())
    }

    /// The bound that the sequence moves towards.
    pub const fn end(&self) -> i64 {
        if self.increment_by.get() > 0 { self.max_value } else { self.min_value }
    }

    /// How many ids come after `value`.
    pub fn remaining(&self, value: i64) -> u64 {
        let Some(base) = self.align(value) else {
            return 0;
        };
        range::steps_between(base, self.end(), self.increment_by)
    }

    /// How many ids there are in all, from the first to the last.
    pub fn capacity(&self) -> u64 {
        self.remaining(self.initial_value())
    }

    /// Whether `id` lies further in this sequence's direction than `other`.
    pub(crate) fn is_beyond(&self, id: i64, other: i64) -> bool {
        range::is_beyond(id, other, self.increment_by)
    }

    /// The further of two ids in this sequence's direction.
    pub(crate) fn furthest(&self, a: i64, b: i64) -> i64 {
        range::furthest(a, b, self.increment_by)
    }

    /// The furthest possible id that is not beyond `id` (S14).
    pub(crate) fn align(&self, id: i64) -> Option<i64> {
        range::align(id, self.start_value, self.increment_by)
    }

    /// The next `count` ids after `base`, fewer near the end (S12); `None` when there are none.
    pub(crate) fn ids_after(&self, base: i64, count: u64) -> Option<IdRange> {
        let base = self.align(base)?;
        let count = if cfg!(planted_bug = "last-range-unclipped") {
            count
        } else {
            count.min(self.remaining(base))
        };
        let first = if cfg!(planted_bug = "range-from-old-value") {
            base
        } else {
            range::offset(base, self.increment_by, 1)?
        };
        let last = range::offset(base, self.increment_by, count)?;
        (count > 0).then(|| IdRange::new(first, last, self.increment_by()))?
    }

    /// Whether using up `ids` ids after `value` at once needs consent (S12): it can't be undone.
    pub(crate) fn is_leap(&self, value: i64, ids: u64) -> bool {
        ids > self.modest(value)
    }

    /// The most ids after `value` that can be used up at once without consent (S12).
    pub(crate) fn modest(&self, value: i64) -> u64 {
        SMALL_JUMP.max(self.remaining(value) / 100)
    }

    /// Whether `other` is this definition with the same or wider bounds (S10).
    pub(crate) fn widens_to(&self, other: &Self) -> bool {
        other.min_value <= self.min_value
            && other.max_value >= self.max_value
            && *self == (Self { min_value: self.min_value, max_value: self.max_value, ..*other })
    }

    /// This definition with the wider of each pair of bounds.
    pub(crate) fn widest(&self, other: &Self) -> Self {
        Self {
            min_value: self.min_value.min(other.min_value),
            max_value: self.max_value.max(other.max_value),
            ..*self
        }
    }

    /// This definition with other bounds, if they are possible.
    pub(crate) fn with_bounds(&self, min: i64, max: i64) -> Result<Self, InvalidDefinition> {
        Self { min_value: min, max_value: max, ..*self }.check()
    }

    fn check(self) -> Result<Self, InvalidDefinition> {
        let Self { start_value, increment_by, min_value, max_value, .. } = self;
        if min_value >= max_value {
            return Err(InvalidDefinition::EmptyBounds { min_value, max_value });
        }
        if !(min_value..=max_value).contains(&start_value) {
            return Err(InvalidDefinition::StartOutOfBounds { start_value, min_value, max_value });
        }
        // S12: the row of a new sequence holds the id before the first.
        if start_value.checked_sub(increment_by.get()).is_none() {
            let increment_by = increment_by.get();
            return Err(InvalidDefinition::StartTooNearTheEdge { start_value, increment_by });
        }
        Ok(self)
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start_value, increment_by, min_value, max_value, strict } = self;
        write!(f, "start {start_value} increment {increment_by} min {min_value} max {max_value}")?;
        if *strict { f.write_str(" strict") } else { Ok(()) }
    }
}

/// Builds a [`Definition`]; what is not set is PostgreSQL's default.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct DefinitionBuilder {
    start_value: Option<i64>,
    increment_by: Option<i64>,
    min_value: Option<i64>,
    max_value: Option<i64>,
    bounds_of_type: Option<(i64, i64)>,
    strict: bool,
}

impl DefinitionBuilder {
    /// The first id. The default is `min_value` of a rising sequence and `max_value` of a falling one.
    pub fn start_value(mut self, id: i64) -> Self {
        self.start_value = Some(id);
        self
    }

    /// The distance from one id to the next, not 0. The default is 1.
    pub fn increment_by(mut self, increment: i64) -> Self {
        self.increment_by = Some(increment);
        self
    }

    /// The smallest id. The default is 1 for a rising sequence and the type's smallest for a falling one.
    pub fn min_value(mut self, id: i64) -> Self {
        self.min_value = Some(id);
        self
    }

    /// The largest id. The default is the type's largest for a rising sequence and -1 for a falling one.
    pub fn max_value(mut self, id: i64) -> Self {
        self.max_value = Some(id);
        self
    }

    /// Bounds for a 32-bit integer column, -2147483648 to 2147483647.
    pub fn int(mut self) -> Self {
        self.bounds_of_type = Some((i32::MIN.into(), i32::MAX.into()));
        self
    }

    /// Bounds within which a JavaScript number is exact, -(2^53 - 1) to 2^53 - 1.
    pub fn javascript_safe(mut self) -> Self {
        let safe = (1 << 53) - 1;
        self.bounds_of_type = Some((-safe, safe));
        self
    }

    /// Whether the ids are to be linearizable over all clients. The default is `false`.
    ///
    /// This version can describe and list strict sequences; it refuses to open them.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// The definition, if there can be such a sequence.
    pub fn build(self) -> Result<Definition, InvalidDefinition> {
        let increment_by = NonZeroI64::new(self.increment_by.unwrap_or(1))
            .ok_or(InvalidDefinition::ZeroIncrement)?;
        let rising = increment_by.get() > 0;
        let (type_min, type_max) = self.bounds_of_type.unwrap_or((i64::MIN, i64::MAX));
        let min_value = self.min_value.unwrap_or(if rising { 1 } else { type_min });
        let max_value = self.max_value.unwrap_or(if rising { type_max } else { -1 });
        let start_value = self.start_value.unwrap_or(if rising { min_value } else { max_value });
        Definition { start_value, increment_by, min_value, max_value, strict: self.strict }.check()
    }
}
