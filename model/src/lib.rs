//! The protocol of `lamport-seq` as a model small enough to explore from end to end.
//!
//! A sequence's row, the clients that reserve from it, the operators that drop it and bring it back, and all that
//! may go wrong between them: every order of every step is followed, and in every state that is reached no id has
//! been given twice, no client gives ids that should know better, and no healthy client has stopped. Then each
//! [rule](rules) of docs/design.md is broken in turn, and the shortest history that goes wrong is told in plain
//! words. docs/counterexamples.md shows them all, and says what is modelled and what is not.
//!
//! | module | what it does |
//! |---|---|
//! | [`setup`], [`rules`] | how many clients, what may go wrong; what they hold to |
//! | `state`, `action`, `model` | what there is, what can happen next, what comes of it |
//! | `client`, `judge`, `birth` | what a client does with an answer |
//! | `store`, `faults`, `suffer` | what transactions do, and all that may go wrong |
//! | `canonical`, `tidy` | states that differ in nothing that matters are one |
//! | `property` | what must always hold, and what must be possible |
//! | [`runs`], [`cases`] | the rules as they are; each of them broken |
//! | [`run`], `history`, [`report`], [`document`], [`output`] | exploring, and telling what was found |

mod action;
mod birth;
mod canonical;
pub mod cases;
mod changes;
mod client;
mod description;
pub mod document;
mod event;
mod faults;
mod history;
mod judge;
mod model;
mod names;
pub mod output;
mod phase;
mod property;
pub mod report;
pub mod rules;
pub mod run;
pub mod runs;
pub mod setup;
mod state;
mod store;
mod suffer;
mod telling;
mod tidy;
mod words;
mod write;
