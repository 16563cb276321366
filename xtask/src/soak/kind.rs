//! The kinds of faults.

use lamport_seq::history::Fault;

/// What the nemesis does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Kind {
    /// A node is killed (SIGKILL) and started again
    Kill,
    /// A node, or some clients, are stopped for a while (SIGSTOP, SIGCONT)
    Pause,
    /// A node hears nothing from the others, and answers its clients all the same
    Partition,
    /// A node's clock goes up to an hour ahead while it runs, and back
    Clock,
    /// Some clients are killed in the middle (SIGKILL); each is started again at once
    RestartClient,
}

impl Kind {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Pause => "pause",
            Self::Partition => "partition",
            Self::Clock => "clock",
            Self::RestartClient => "restart-client",
        }
    }

    /// What a history calls it. It excuses nothing: no stop has its cause in one of these.
    pub(super) fn fault(self) -> Fault<'static> {
        Fault::Other(self.as_str().replace('-', "_").into())
    }
}
