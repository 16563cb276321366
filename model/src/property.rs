//! What must always hold, and what must be possible.

use stateright::Property;

use crate::event::Event;
use crate::model::Protocol;
use crate::setup::{Kind, Kinds, Origin, Setup};
use crate::state::{Cause, Phase, Shadow, State, Violation};

/// Within an epoch, no id is given twice.
pub(crate) const UNIQUE: &str = "no id is given twice";
/// Across epochs.
pub(crate) const BEYOND: &str = "no client whose mark contradicts the row gives ids";
/// No false alarm.
pub(crate) const HEALTHY: &str = "no healthy client stops";

/// The properties of a model of this size.
pub(crate) fn all(setup: &Setup) -> Vec<Property<Protocol>> {
    let mut all = vec![
        Property::always(UNIQUE, |_, state: &State| {
            !matches!(state.violation, Some(Violation::Duplicate { .. }))
        }),
        Property::always(BEYOND, |_, state: &State| {
            !matches!(state.violation, Some(Violation::GivenBeyondMark { .. }))
        }),
        Property::always(HEALTHY, |_, state: &State| {
            !matches!(state.violation, Some(Violation::FalseStop(_)))
        }),
    ];
    let possible = common().chain(of_faults()).chain(of_disasters());
    let needed = possible.filter(|(kinds, _, _)| {
        let enough = setup.faults > 0 || !kinds.meets(Kinds::NETWORK);
        kinds.is_empty() || enough && setup.kinds.meets(*kinds)
    });
    all.extend(needed.map(|(_, name, condition)| Property::sometimes(name, condition)));
    if setup.origin == Origin::Unborn {
        all.push(Property::sometimes(
            "a client creates the sequence",
            |model: &Protocol, _: &State| model.witnesses.all().has(Event::Created),
        ));
    }
    if setup.peeks {
        all.push(Property::sometimes(
            "a client starts from what one replica shows",
            |model: &Protocol, _: &State| model.witnesses.all().has(Event::Peeked),
        ));
    }
    all
}

/// Something that must be possible if faults of these kinds are: a model in which nothing happens violates nothing.
type Possible = (Kinds, &'static str, fn(&Protocol, &State) -> bool);

fn common() -> impl Iterator<Item = Possible> {
    let always = Kinds::of(&[]);
    let possible: [Possible; 4] = [
        (always, "every client makes all its reservations", completed),
        (always, "another client is first", |m, _| m.witnesses.all().has(Event::Conflict)),
        (always, "a range is claimed by `applied`", |m, _| {
            m.witnesses.all().has(Event::ClaimedByAnswer)
        }),
        (always, "a range is claimed that another client has passed already", |m, _| {
            m.witnesses.all().has(Event::ClaimedFurtherOn)
        }),
    ];
    possible.into_iter()
}

fn of_faults() -> impl Iterator<Item = Possible> {
    let timeout = Kinds::of(&[Kind::Timeout]);
    let possible: [Possible; 4] = [
        (timeout, "an unknown outcome is claimed by a serial read", |m, _| {
            m.witnesses.all().has(Event::ClaimedByRead)
        }),
        (timeout, "a write lands late, its client having gone on without it", |m, _| {
            m.witnesses.all().has(Event::LandedLate)
        }),
        (
            Kinds::of(&[Kind::Repeat]),
            "a client hears that its write was not applied, which it was",
            |m, _| m.witnesses.all().has(Event::RepeatRefused),
        ),
        (Kinds::of(&[Kind::Crash]), "a client that has crashed makes a reservation", |m, _| {
            m.witnesses.all().has(Event::ClaimedAfterCrash)
        }),
    ];
    possible.into_iter()
}

fn of_disasters() -> impl Iterator<Item = Possible> {
    let possible: [Possible; 6] = [
        (Kinds::SET_BACK, "a client stops since the row is behind its mark", |m, s| {
            s.epoch > 0 && stopped(m, s, Cause::Regressed)
        }),
        (Kinds::SET_BACK, "an id is given again in another epoch", |m, _| {
            m.witnesses.all().has(Event::GivenAgain)
        }),
        (Kinds::of(&[Kind::Shadow]), "a client stops since its write does not show", |m, s| {
            let shadow = s.store.row.map(|row| row.written.shadow);
            shadow == Some(Shadow::Row) && stopped(m, s, Cause::Regressed)
        }),
        (Kinds::of(&[Kind::Lose]), "a client stops since the row is missing", |m, s| {
            stopped(m, s, Cause::Missing)
        }),
        (Kinds::of(&[Kind::Drop]), "a client stops since the sequence was dropped", |m, s| {
            stopped(m, s, Cause::Retired)
        }),
        (Kinds::of(&[Kind::Recreate]), "ids are given after the sequence came back", |m, _| {
            m.witnesses.all().has(Event::GivenAfterReturn)
        }),
    ];
    possible.into_iter()
}

fn completed(model: &Protocol, state: &State) -> bool {
    let mut clients = state.clients.iter().take(usize::from(model.setup.clients));
    clients.all(|client| client.phase == Phase::Done)
}

fn stopped(model: &Protocol, state: &State, cause: Cause) -> bool {
    let mut clients = state.clients.iter().take(usize::from(model.setup.clients));
    clients.any(|client| client.phase == Phase::Stopped(cause))
}
