//! Who an attempt is: a uuid that no other attempt ever has (S2).

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use crate::error::Error;

/// Where attempt uuids and jitter come from. The operating system, but for simulations.
#[cfg_attr(not(feature = "testing"), expect(unreachable_pub, reason = "exported for tests"))]
pub trait Entropy: Send + Sync + 'static {
    /// Fills `bytes` with bits that nobody else will draw, or says why it can't.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), String>;
}

/// The operating system's random source.
#[cfg_attr(not(feature = "testing"), expect(unreachable_pub, reason = "exported for tests"))]
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), String> {
        getrandom::fill(bytes).map_err(|error| error.to_string())
    }
}

/// One incarnation of one generator: a tag that the row shows, and a source of attempt uuids.
#[derive(Clone)]
pub(crate) struct Identity {
    tag: Tag,
    entropy: Arc<dyn Entropy>,
}

/// What the uuids of one incarnation begin with: its client, for those who look at the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tag([u8; 6]);

impl Tag {
    /// The tag of the client whose attempt this is.
    pub(crate) fn of(node: Uuid) -> Self {
        let [tag @ .., _, _, _, _, _, _, _, _, _, _] = node.into_bytes();
        Self(tag)
    }
}

impl Identity {
    /// Draws a tag from `entropy`.
    pub(crate) fn draw(entropy: Arc<dyn Entropy>) -> Result<Self, Error> {
        let mut tag = [0; 6];
        fill(&*entropy, &mut tag)?;
        Ok(Self::with_tag(tag, entropy))
    }

    /// A generator with this very tag.
    pub(crate) fn with_tag(tag: [u8; 6], entropy: Arc<dyn Entropy>) -> Self {
        Self { tag: Tag(tag), entropy }
    }

    pub(crate) fn tag(&self) -> Tag {
        self.tag
    }

    /// The uuid of one attempt. S2: new bits every time, so that no retry and no sibling shares it.
    pub(crate) fn attempt(&self) -> Result<Uuid, Error> {
        let mut bytes = [0; 16];
        fill(&*self.entropy, &mut bytes)?;
        if cfg!(any(planted_bug = "node-alone", planted_bug = "uuid-shared")) {
            bytes.fill(0);
        }
        if !cfg!(planted_bug = "uuid-shared") {
            bytes[..self.tag.0.len()].copy_from_slice(&self.tag.0);
        }
        Ok(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// A uuid for a birth (S6): all bits drawn.
    pub(crate) fn birth(&self) -> Result<Uuid, Error> {
        let mut bytes = [0; 16];
        fill(&*self.entropy, &mut bytes)?;
        Ok(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// A fraction in 0..1, for jitter. Without entropy there is no jitter, which is slow and not unsafe.
    pub(crate) fn fraction(&self) -> f64 {
        let mut bytes = [0; 4];
        let drawn = self.entropy.fill(&mut bytes).map(|()| u32::from_le_bytes(bytes));
        f64::from(drawn.unwrap_or(u32::MAX)) / f64::from(u32::MAX)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("tag", &self.tag).finish_non_exhaustive()
    }
}

fn fill(entropy: &dyn Entropy, bytes: &mut [u8]) -> Result<(), Error> {
    entropy.fill(bytes).map_err(Error::NoEntropy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn s2_no_two_attempts_share_a_uuid_and_all_show_the_tag() {
        let identity = Identity::draw(Arc::new(OsEntropy)).unwrap();
        let attempts: HashSet<_> = (0..10_000).map(|_| identity.attempt().unwrap()).collect();
        assert_eq!(attempts.len(), 10_000);
        for attempt in attempts {
            assert_eq!(Tag::of(attempt), identity.tag());
            assert_eq!(attempt.get_version_num(), 8);
        }
    }

    #[test]
    fn without_entropy_there_is_no_attempt() {
        struct Empty;
        impl Entropy for Empty {
            fn fill(&self, _: &mut [u8]) -> Result<(), String> {
                Err("pool is empty".to_owned())
            }
        }
        assert!(matches!(Identity::draw(Arc::new(Empty)), Err(Error::NoEntropy(_))));
    }
}
