//! How large a model is: who takes part, and how much may go wrong.

/// The most clients that a model can have.
pub const CLIENTS: usize = 3;

/// The furthest id that there is room for.
pub const LAST_ID: u8 = 15;

/// Who takes part, and how much may go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many clients, that is, generators: each has one reservation in flight (S11).
    pub clients: u8,
    /// How many reservations each of them makes.
    pub reservations: u8,
    /// How many ids each client asks for.
    pub blocks: [u8; CLIENTS],
    /// The store handle of each client: those that share one share mark and stop (S4, S5).
    pub handles: [u8; CLIENTS],
    /// How the sequence begins.
    pub origin: Origin,
    /// Whether clients peek at one replica, which may lag, before they write.
    pub peeks: bool,
    /// At most this many faults of network and clients, in any combination and order.
    pub faults: u8,
    /// At most this many disasters and operators' acts, in any combination and order.
    pub disasters: u8,
    /// Which of either.
    pub kinds: Kinds,
    /// The sequence's last id, at most [`LAST_ID`].
    pub last_id: u8,
}

/// How the sequence begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Born and unused; clients open it by reading its row.
    Born,
    /// The same, and its insertion, which was delivered twice, is still under way once more.
    JustBorn,
    /// It does not exist; every client creates it if it is missing, and compares the row with the birth (S6).
    Unborn,
    /// Id 1 was given, then its row was lost. An operator has announced its return beyond 1, and the first insertion
    /// of the row, which was delivered twice, is still under way. Clients compare the row with the birth.
    Returning,
}

/// What may go wrong, or be done by an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A client hears no answer to its write: the request or the answer is lost, or late (S3).
    Timeout,
    /// A client gives up before a write is confirmed: the deadline of S13.
    GiveUp,
    /// A write is delivered twice: by a driver's retry, a speculative execution, a coordinator (S8).
    Repeat,
    /// A process dies; it may be started again.
    Crash,
    /// The row becomes again what it was: a backup, a replica that forgot.
    Restore,
    /// The row's value is set back to the start without a condition.
    SetBack,
    /// The value, or the whole row, is written once more without a condition and with a timestamp in the future.
    Shadow,
    /// The same, and the future comes while clients are at work.
    BriefShadow,
    /// The row is gone: DELETE, TRUNCATE, TTL. Not while an insertion of it may still land.
    Lose,
    /// The same, at any time.
    LoseEarly,
    /// A node's clock runs ahead, and with it the write times of transactions.
    Skew,
    /// An operator drops the sequence.
    Drop,
    /// An operator brings it back.
    Recreate,
}

/// A set of [`Kind`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// Faults of network and clients: nothing that the protocol does not have to bear.
    pub const NETWORK: Self = Self::of(&[Kind::Timeout, Kind::GiveUp, Kind::Repeat, Kind::Crash]);
    /// What sets the row back: it ends an epoch.
    pub const SET_BACK: Self = Self::of(&[Kind::Restore, Kind::SetBack]);
    /// What sets the row back, shadows it or loses it.
    pub const DISASTERS: Self = Self::SET_BACK.and(Self::of(&[Kind::Shadow, Kind::Lose]));
    /// What operators do.
    pub const OPERATORS: Self = Self::of(&[Kind::Drop, Kind::Recreate]);

    /// Exactly these.
    pub const fn of(kinds: &[Kind]) -> Self {
        let mut set = 0;
        let mut at = 0;
        while at < kinds.len() {
            set |= 1 << kinds[at] as u16;
            at += 1;
        }
        Self(set)
    }

    /// These and those.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether `kind` is among them.
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u16) != 0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether one of `others` is among them.
    pub const fn meets(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

impl Setup {
    /// `clients` processes of one generator each, `reservations` apiece, one id at a time; nothing goes wrong.
    pub const fn processes(clients: u8, reservations: u8) -> Self {
        Self {
            clients,
            reservations,
            blocks: [1; CLIENTS],
            handles: [0, 1, 2],
            origin: Origin::Born,
            peeks: false,
            faults: 0,
            disasters: 0,
            kinds: Kinds(0),
            last_id: LAST_ID,
        }
    }

    /// The same, where the first two clients are generators of one process.
    #[must_use]
    pub const fn first_two_share(self) -> Self {
        Self { handles: [0, 0, 1], ..self }
    }

    /// The same, where clients peek at one replica before they write.
    #[must_use]
    pub const fn peeking(self) -> Self {
        Self { peeks: true, ..self }
    }

    /// The same, with up to `faults` faults of network and clients.
    #[must_use]
    pub const fn faults(self, faults: u8) -> Self {
        let kinds = self.kinds.and(Kinds::NETWORK);
        Self { faults, kinds, ..self }
    }

    /// The same, with up to `disasters` disasters and operators' acts of these kinds.
    #[must_use]
    pub const fn disasters(self, disasters: u8, kinds: Kinds) -> Self {
        let kinds = self.kinds.and(kinds);
        Self { disasters, kinds, ..self }
    }

    /// The same with one fault of this kind.
    #[must_use]
    pub const fn one(self, kind: Kind) -> Self {
        let kinds = self.kinds.and(Kinds::of(&[kind]));
        if Kinds::NETWORK.has(kind) {
            Self { faults: 1, kinds, ..self }
        } else {
            Self { disasters: 1, kinds, ..self }
        }
    }

    /// The same, beginning just after the insertion of the row, which may be repeated.
    #[must_use]
    pub const fn just_born(self) -> Self {
        Self { origin: Origin::JustBorn, ..self }
    }

    /// The same, beginning with no sequence at all.
    #[must_use]
    pub const fn unborn(self) -> Self {
        Self { origin: Origin::Unborn, ..self }
    }

    /// The same, beginning with a sequence that lost its row and is about to come back.
    #[must_use]
    pub const fn returning(self) -> Self {
        Self { origin: Origin::Returning, ..self }
    }

    /// The same with fewer clients, reservations and ids, where two things go wrong at most: to be through in seconds.
    #[must_use]
    pub fn smaller(self) -> Self {
        Self {
            reservations: self.reservations.min(2),
            clients: self.clients.min(2),
            faults: self.faults.min(2u8.saturating_sub(self.disasters)),
            last_id: self.last_id.min(4),
            ..self
        }
    }

    /// The same, for a sequence that ends at `last_id`.
    #[must_use]
    pub const fn ending(self, last_id: u8) -> Self {
        Self { last_id, ..self }
    }

    /// Whether clients compare the row with the birth when they open.
    pub(crate) fn reads_births(&self) -> bool {
        matches!(self.origin, Origin::Unborn | Origin::Returning)
    }

    /// The same, with blocks of these sizes.
    #[must_use]
    pub const fn blocks(self, blocks: [u8; CLIENTS]) -> Self {
        Self { blocks, ..self }
    }
}
