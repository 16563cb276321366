//! A store as applications hold it: the store itself, and what was learnt through it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::{Store, StoreFuture};
use crate::backoff::Backoff;
use crate::definition::SequenceName;
use crate::error::Error;
use crate::identity::Identity;
use crate::register::Register;

/// A connection to a store, shared by every sequence that is opened through it. Cheap to clone.
///
/// The handle remembers, for each sequence, the furthest timestamp that was seen through it (S4) and whether the
/// sequence has stopped (S5). Use one handle per store in a process: two handles know nothing of each other,
/// which is safe and notices less.
#[derive(Clone)]
pub struct StoreHandle(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    location: Arc<str>,
    checked: OnceCell<()>,
    registers: Mutex<HashMap<SequenceName, Arc<Register>>>,
}

/// A sequence's register and the store behind it.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) register: Arc<Register>,
}

impl StoreHandle {
    /// A handle on a store of your own. Nothing is sent yet.
    pub fn new(store: impl Store) -> Self {
        Self::from_arc(Arc::new(store))
    }

    /// A handle on a store that is shared already. Nothing is sent yet.
    pub fn from_arc(store: Arc<dyn Store>) -> Self {
        let location = store.location().into();
        Self(Arc::new(Inner {
            store,
            location,
            checked: OnceCell::new(),
            registers: Mutex::default(),
        }))
    }

    /// Where this is: a URL without user or password.
    pub fn location(&self) -> &str {
        &self.0.location
    }

    pub(crate) fn location_arc(&self) -> &Arc<str> {
        &self.0.location
    }

    /// The store, without its memory of marks and stops.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// Checks the store once per handle (S9, S16); a check that failed is made again.
    pub(crate) async fn check(&self, identity: &Identity, deadline: Instant) -> Result<(), Error> {
        let Inner { checked, store, .. } = &*self.0;
        let check = || -> StoreFuture<'_, ()> {
            Box::pin(async {
                checked.get_or_try_init(|| store.check(deadline)).await?;
                Ok(())
            })
        };
        self.ask(identity, deadline, check).await
    }

    /// A question to the store as a whole, repeated until it answers or the deadline passes: it changes nothing.
    pub(crate) async fn ask<'a, T>(
        &'a self,
        identity: &Identity,
        deadline: Instant,
        question: impl Fn() -> StoreFuture<'a, T>,
    ) -> Result<T, Error> {
        let began = Instant::now();
        let mut backoff = Backoff::default();
        let mut trouble = None;
        loop {
            match tokio::time::timeout_at(deadline, question()).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(source)) if source.is_passing() => trouble = Some(source),
                Ok(Err(source)) => {
                    return Err(Error::Refused { location: self.location_arc().clone(), source });
                }
                // The deadline has passed.
                Err(_) => {}
            }
            if !backoff.wait(identity, deadline).await {
                return Err(Error::Unavailable {
                    location: self.location_arc().clone(),
                    waited: began.elapsed(),
                    source: trouble,
                });
            }
        }
    }

    /// The one register of `name` on this handle (S5).
    pub(crate) fn open(&self, name: &SequenceName) -> Opened {
        let mut registers = self.0.registers.lock().unwrap_or_else(PoisonError::into_inner);
        let register = registers
            .entry(name.clone())
            .or_insert_with(|| Arc::new(Register::new(name.clone(), self.location_arc().clone())));
        Opened { store: self.0.store.clone(), register: register.clone() }
    }
}

impl fmt::Debug for StoreHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreHandle").field(&self.location()).finish()
    }
}

impl<S: Store> From<S> for StoreHandle {
    fn from(store: S) -> Self {
        Self::new(store)
    }
}
