//! What one store handle knows of one sequence: the mark (S4), the stop (S5) and the shared floor (S14).

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::definition::SequenceName;
use crate::error::Error;
use crate::stop::{Stop, StopCause};
use crate::store::{Row, StoreError, StoreErrorKind};
use crate::tape::Reel;
use crate::timestamp::LamportTimestamp;

/// Shared by all generators of one sequence on one store handle.
#[derive(Debug)]
pub(crate) struct Register {
    pub(crate) sequence: SequenceName,
    pub(crate) location: Arc<str>,
    knowledge: Mutex<Knowledge>,
    stop: OnceLock<Arc<Stop>>,
    pub(crate) reel: Reel,
}

#[derive(Debug, Default)]
struct Knowledge {
    /// The furthest row that a single-row SERIAL read or an applied write has shown (S4).
    mark: Option<Row>,
    /// Ids up to here are not given any more, by an advance through this handle.
    floor: Option<i64>,
}

impl Knowledge {
    fn raise(&mut self, row: Row) {
        self.mark = Some(self.mark.map_or(row, |mark| further(mark, row)));
    }
}

impl Register {
    pub(crate) fn new(sequence: SequenceName, location: Arc<str>) -> Self {
        Self {
            sequence,
            location,
            knowledge: Mutex::default(),
            stop: OnceLock::new(),
            reel: Reel::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Knowledge> {
        // Nothing in here is ever left half changed, so a poisoned lock holds good data.
        self.knowledge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mark as it stands; keep it when a read is sent, for [`judge`](Self::judge).
    pub(crate) fn mark(&self) -> Option<Row> {
        self.lock().mark
    }

    /// The floor that an advance through this handle has set.
    pub(crate) fn floor(&self) -> Option<i64> {
        self.lock().floor
    }

    /// Sets the floor for every generator on this handle; it only ever moves on.
    pub(crate) fn raise_floor(&self, floor: i64, row: &Row) {
        let mut known = self.lock();
        let definition = row.definition();
        known.floor = Some(known.floor.map_or(floor, |old| definition.furthest(old, floor)));
    }

    /// S5: the stop, if the sequence has stopped.
    pub(crate) fn check(&self) -> Result<(), Arc<Stop>> {
        self.stop.get().map_or(Ok(()), |stop| Err(stop.clone()))
    }

    /// The error for `cause`, which stops nothing yet.
    pub(crate) fn describe(&self, cause: StopCause) -> Arc<Stop> {
        self.advise(cause, None)
    }

    fn advise(&self, cause: StopCause, advice: Option<String>) -> Arc<Stop> {
        let (sequence, location) = (self.sequence.clone(), self.location.clone());
        Arc::new(Stop { sequence, location, cause, advice })
    }

    /// S5: stops the sequence for good on this handle. The first cause stays.
    pub(crate) fn stop(&self, cause: StopCause) -> Arc<Stop> {
        self.stop_with(cause, None)
    }

    fn stop_with(&self, cause: StopCause, advice: Option<String>) -> Arc<Stop> {
        let mut is_first = false;
        let stop = self.stop.get_or_init(|| {
            is_first = true;
            let stop = self.advise(cause, advice);
            tracing::error!(sequence = %self.sequence, location = %self.location, "{stop}");
            stop
        });
        if is_first {
            self.reel.stopped(&stop.cause);
        }
        stop.clone()
    }

    /// The error for a store's refusal, which no retry mends; some of them are stops.
    pub(crate) fn refusal(&self, error: StoreError) -> Error {
        let cause = match error.kind() {
            StoreErrorKind::Corrupt => StopCause::Corrupt(error.to_string()),
            StoreErrorKind::Gone => StopCause::Gone(error.to_string()),
            _ => {
                return Error::Refused { location: self.location.clone(), source: error };
            }
        };
        Error::Stopped(self.stop_with(cause, error.hint().map(str::to_owned)))
    }

    /// S4: compares what a SERIAL read found with the mark as it stood when the read was sent, and raises the mark.
    pub(crate) fn judge(&self, sent: Option<&Row>, found: Option<Row>) -> Result<Row, Arc<Stop>> {
        let Some(found) = found else {
            return Err(self.stop(StopCause::Missing));
        };
        if let Some(cause) = sent.and_then(|seen| contradiction(seen, &found)) {
            return Err(self.stop(cause));
        }
        if found.retired {
            return Err(self.stop(StopCause::Retired));
        }
        if let Some(problem) = before_the_start(&found) {
            return Err(self.stop(StopCause::Corrupt(problem)));
        }
        self.raise(found);
        Ok(found)
    }

    /// S7: judges what is read after `written` was applied; a row that is behind it was shadowed.
    pub(crate) fn judge_applied(
        &self,
        written: LamportTimestamp,
        sent: Option<&Row>,
        found: Option<Row>,
    ) -> Result<Row, Arc<Stop>> {
        if let (Some(seen), Some(found)) = (sent, &found)
            && let Some(StopCause::Regressed { .. }) = contradiction(seen, found)
        {
            let found = found.timestamp;
            return Err(self.stop(StopCause::Shadowed { written, found }));
        }
        self.judge(sent, found)
    }

    /// The mark where it lies beyond `row`: a sibling has seen the row further on, and a write from where it was could
    /// only be applied if it went back (S4).
    pub(crate) fn latest(&self, row: Row) -> Row {
        self.mark().map_or(row, |mark| further(row, mark))
    }

    /// S4: judges a write from `old` that was applied. `false`: while it was under way, a sibling has seen the row
    /// beyond it. Whether that was afterwards, or before the row went back, nobody can tell.
    pub(crate) fn judge_written(&self, old: &Row, new: Row) -> Result<bool, Arc<Stop>> {
        let is_beyond =
            |a: &Row, b: &Row| old.definition().is_beyond(a.timestamp.value, b.timestamp.value);
        let seen = {
            let mut known = self.lock();
            let before = known.mark;
            known.raise(new);
            before.filter(|mark| is_beyond(mark, old) && mark.timestamp != new.timestamp)
        };
        match seen {
            Some(mark) if is_beyond(&mark, &new) => Ok(false),
            // It would have had to go through where the sibling has seen it.
            Some(mark) => {
                let (seen, found) = (mark.timestamp, new.timestamp);
                Err(self.stop(StopCause::Regressed { seen, found }))
            }
            None => Ok(true),
        }
    }

    /// S4: raises the mark to `row`, which a SERIAL read or an applied write has shown. It never goes back.
    pub(crate) fn raise(&self, row: Row) {
        self.lock().raise(row);
    }
}

/// What in `found` can't follow from `seen`, which was in the row before the read was sent.
fn contradiction(seen: &Row, found: &Row) -> Option<StopCause> {
    if found.created != seen.created {
        return Some(StopCause::Recreated { seen: seen.created, found: found.created });
    }
    let definition = seen.definition();
    if !definition.widens_to(&found.definition()) {
        let (seen, found) = (definition.to_string(), found.definition().to_string());
        return Some(StopCause::Redefined { seen, found });
    }
    let (was, is) = (seen.timestamp, found.timestamp);
    let went_back = definition.is_beyond(was.value, is.value)
        && !cfg!(any(planted_bug = "behind-accepted", planted_bug = "missing-recreated"));
    let changed_hands =
        was.value == is.value && was.node != is.node && !cfg!(planted_bug = "other-hands-accepted");
    (went_back || changed_hands).then_some(StopCause::Regressed { seen: was, found: is })
}

/// S9: a value that no client writes: the ids after it would lie before the first one, perhaps out of bounds.
fn before_the_start(found: &Row) -> Option<String> {
    // A row without definition has no start of its own.
    let definition = found.definition?;
    let value = found.timestamp.value;
    definition.is_beyond(definition.initial_value(), value).then(|| {
        format!("its value is {value}, and its ids begin with {}", definition.start_value())
    })
}

/// The further of two rows of one sequence, with the wider bounds of the two.
fn further(mark: Row, row: Row) -> Row {
    let definition = mark.definition();
    let mut further =
        if definition.is_beyond(row.timestamp.value, mark.timestamp.value) { row } else { mark };
    if let (Some(a), Some(b)) = (mark.definition, row.definition) {
        further.definition = Some(a.widest(&b));
    }
    further
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Definition;
    use uuid::Uuid;

    fn register() -> Register {
        Register::new("orders".parse().unwrap(), "memory:".into())
    }

    fn row(value: i64, node: u128) -> Row {
        let unused = Row::unused(Definition::default(), Uuid::from_u128(7));
        Row { timestamp: LamportTimestamp::new(value, Uuid::from_u128(node)), ..unused }
    }

    fn cause(judged: Result<Row, Arc<Stop>>) -> StopCause {
        judged.unwrap_err().cause.clone()
    }

    #[test]
    fn s4_a_row_behind_the_mark_is_a_stop() {
        let register = register();
        register.raise(row(100, 1));
        let found = cause(register.judge(register.mark().as_ref(), Some(row(99, 2))));
        assert!(matches!(found, StopCause::Regressed { .. }), "{found:?}");
        assert!(register.check().is_err());
    }

    #[test]
    fn s4_the_same_value_by_another_node_is_a_stop() {
        let register = register();
        register.raise(row(100, 1));
        let found = cause(register.judge(register.mark().as_ref(), Some(row(100, 2))));
        assert!(matches!(found, StopCause::Regressed { .. }), "{found:?}");
    }

    #[test]
    fn s4_another_birth_and_a_missing_row_are_stops() {
        let reborn = Row { created: Some(Uuid::from_u128(8)), ..row(200, 2) };
        let first = register();
        first.raise(row(100, 1));
        let found = cause(first.judge(first.mark().as_ref(), Some(reborn)));
        assert!(matches!(found, StopCause::Recreated { .. }), "{found:?}");
        let second = register();
        second.raise(row(100, 1));
        assert_eq!(cause(second.judge(second.mark().as_ref(), None)), StopCause::Missing);
    }

    #[test]
    fn s4_a_read_is_compared_with_the_mark_of_when_it_was_sent() {
        let register = register();
        register.raise(row(100, 1));
        let sent = register.mark();
        register.raise(row(200, 2));
        assert_eq!(register.judge(sent.as_ref(), Some(row(150, 3))).unwrap().timestamp.value, 150);
        assert_eq!(register.mark().unwrap().timestamp.value, 200, "the mark never goes back");
    }

    #[test]
    fn s5_a_stop_is_final_and_keeps_its_first_cause() {
        let register = register();
        register.stop(StopCause::Missing);
        register.stop(StopCause::Retired);
        assert_eq!(register.check().unwrap_err().cause, StopCause::Missing);
    }

    #[test]
    fn s10_bounds_may_widen_and_nothing_else_may_change() {
        let register = register();
        let narrow = Definition::builder().int().build().unwrap();
        register.raise(Row { definition: Some(narrow), ..row(1, 1) });
        let sent = register.mark();
        register.judge(sent.as_ref(), Some(row(2, 2))).unwrap();
        assert_eq!(register.mark().unwrap().definition().max_value(), i64::MAX);
        let narrowed = Row { definition: Some(narrow), ..row(3, 3) };
        let found = cause(register.judge(register.mark().as_ref(), Some(narrowed)));
        assert!(matches!(found, StopCause::Redefined { .. }), "{found:?}");
    }
}
