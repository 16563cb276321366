//! The Lamport timestamp that a sequence's row holds.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// A Lamport timestamp: how far a sequence has come, and which attempt took it there.
///
/// `value` is the last id that has been reserved, `node` the uuid of the conditional write that reserved it.
/// Timestamps order by `value`, then by `node`, as Lamport's total order does
/// (L. Lamport, *Time, Clocks, and the Ordering of Events in a Distributed System*, 1978).
/// It has nothing to do with wall time.
///
/// # Example: a timestamp survives being printed
///
/// ```
/// use lamport_seq::LamportTimestamp;
///
/// let text = "4711@018f3c5e-0000-8000-8000-000000000001";
/// let timestamp: LamportTimestamp = text.parse()?;
/// assert_eq!(timestamp.value, 4711);
/// assert_eq!(timestamp.to_string(), text);
/// # Ok::<(), lamport_seq::ParseTimestampError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LamportTimestamp {
    /// The last id that has been reserved.
    pub value: i64,
    /// The attempt that reserved it; nil where nothing has been reserved by an attempt yet.
    pub node: Uuid,
}

impl LamportTimestamp {
    /// A timestamp of these two parts.
    pub const fn new(value: i64, node: Uuid) -> Self {
        Self { value, node }
    }

    /// The tag of the generator that wrote `node`: the first 48 bits of a version 8 uuid, as twelve hex digits.
    ///
    /// `None` for a uuid of another version, which this library never writes.
    ///
    /// ```
    /// # use lamport_seq::LamportTimestamp;
    /// let timestamp: LamportTimestamp = "1@018f3c5e-9a2b-8000-8000-000000000001".parse().unwrap();
    /// assert_eq!(timestamp.tag().as_deref(), Some("018f3c5e9a2b"));
    /// ```
    pub fn tag(&self) -> Option<String> {
        (self.node.get_version_num() == 8).then(|| self.node.simple().to_string()[..12].to_owned())
    }
}

impl From<i64> for LamportTimestamp {
    /// An id that is known without its attempt.
    fn from(id: i64) -> Self {
        Self::new(id, Uuid::nil())
    }
}

impl fmt::Display for LamportTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.value, self.node)
    }
}

/// Text that is not a [`LamportTimestamp`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a timestamp: write VALUE@UUID, as in 42@018f3c5e-0000-8000-8000-000000000001"
)]
pub struct ParseTimestampError(String);

impl FromStr for LamportTimestamp {
    type Err = ParseTimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('@').and_then(|(value, node)| {
            Some(Self::new(value.parse().ok()?, Uuid::try_parse(node).ok()?))
        });
        parts.ok_or_else(|| ParseTimestampError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_by_value_then_node() {
        let low = LamportTimestamp::new(-5, Uuid::max());
        let mid = LamportTimestamp::new(7, Uuid::nil());
        let high = LamportTimestamp::new(7, Uuid::max());
        assert!(low < mid && mid < high);
    }

    #[test]
    fn text_that_is_no_timestamp_is_refused_in_words() {
        for text in [
            "",
            "7",
            "@",
            "7@",
            "7@zebra",
            "9223372036854775808@00000000-0000-0000-0000-000000000000",
        ] {
            let error = text.parse::<LamportTimestamp>().unwrap_err();
            assert!(error.to_string().contains("VALUE@UUID"), "{text}: {error}");
        }
    }
}
