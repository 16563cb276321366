//! Reservations, and which of them an id comes from.

/// What became of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing is known: it was never ended.
    Open,
    /// It was done and claimed.
    Ok,
    /// It certainly was not done.
    Fail,
    /// It may have been done, or may be yet.
    Info,
}

/// An attempt to move the row, in positions: the ids after `old` up to `last`.
#[derive(Debug)]
pub(super) struct Reservation {
    pub(super) generator: u32,
    pub(super) outcome: Outcome,
    /// Ids of it were given.
    pub(super) given: bool,
    pub(super) old: i64,
    pub(super) last: i64,
    pub(super) begin: u64,
    pub(super) end: u64,
    /// The line of the invoke.
    pub(super) sent: u32,
}

impl Reservation {
    pub(super) fn sent(generator: u32, (old, last): (i64, i64), begin: u64, sent: u32) -> Self {
        let (outcome, given, end) = (Outcome::Open, false, u64::MAX);
        Self { generator, outcome, given, old, last, begin, end, sent }
    }

    pub(super) fn end(&mut self, outcome: Outcome, time: u64) {
        (self.outcome, self.end) = (outcome, time);
    }

    /// Whether its generator takes it for its own: it says so, or has given ids of it.
    pub(super) fn is_claimed(&self) -> bool {
        match self.outcome {
            Outcome::Ok => true,
            Outcome::Fail => false,
            Outcome::Open | Outcome::Info => self.given,
        }
    }

    fn holds(&self, first: i64, last: i64) -> bool {
        self.old < first && last <= self.last
    }
}

/// The reservations of one generator that ids can come from.
#[derive(Debug, Default)]
pub(super) struct Reservations {
    /// Those that were done, by their place: before its first, its last, and the number.
    owned: Vec<(i64, i64, u32)>,
    /// Those of which it is not known.
    doubtful: Vec<u32>,
    /// Some of those that were done overlap, which is a violation by itself.
    tangled: bool,
}

impl Reservations {
    pub(super) fn sent(&mut self, number: u32) {
        self.doubtful.push(number);
    }

    pub(super) fn ended(&mut self, number: u32, reservation: &Reservation) {
        if reservation.outcome == Outcome::Info {
            return;
        }
        if let Some(place) = self.doubtful.iter().rposition(|doubtful| *doubtful == number) {
            self.doubtful.remove(place);
        }
        if reservation.outcome == Outcome::Ok {
            self.own(number, reservation);
        }
    }

    fn own(&mut self, number: u32, reservation: &Reservation) {
        let entry = (reservation.old, reservation.last, number);
        let place = self.owned.partition_point(|owned| owned.0 <= entry.0);
        let before = place.checked_sub(1).is_some_and(|i| self.owned[i].1 > entry.0);
        let after = self.owned.get(place).is_some_and(|next| next.0 < entry.1);
        self.tangled |= before || after;
        self.owned.insert(place, entry);
    }

    /// The reservation that holds all ids from `first` to `last`: one that was done, rather than one in doubt.
    pub(super) fn of(&self, first: i64, last: i64, all: &[Reservation]) -> Option<u32> {
        let holds = |owned: &&(i64, i64, u32)| owned.0 < first && last <= owned.1;
        let newest = self.owned.iter().rev().take(2).find(holds);
        let owned = newest.or_else(|| {
            let after = self.owned.partition_point(|owned| owned.0 < first);
            let nearest = self.owned[..after].last().filter(holds);
            nearest.or_else(|| self.owned.iter().find(|owned| self.tangled && holds(owned)))
        });
        owned.map(|owned| owned.2).or_else(|| {
            let holds = |number: &&u32| all[**number as usize].holds(first, last);
            self.doubtful.iter().rev().find(holds).copied()
        })
    }
}
