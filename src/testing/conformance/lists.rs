//! Clauses on listings. What else is in the store, and comes into it meanwhile, is left out of account.

use std::collections::BTreeMap;

use super::calls::{answer, apply, deadline, fresh_row, inserted, move_to};
use crate::definition::SequenceName;
use crate::store::{Listed, Row, Store};

const NAMES: u32 = 7;

/// Registers that a listing must show.
async fn registers(store: &dyn Store, about: &str) -> BTreeMap<SequenceName, Row> {
    let mut registers = BTreeMap::new();
    for value in 1..=i64::from(NAMES) {
        let row = fresh_row();
        let name = inserted(store, about, row).await;
        let row = apply(store, &name, &row, move_to(value)).await;
        registers.insert(name, row);
    }
    registers
}

async fn page(store: &dyn Store, after: Option<&SequenceName>, limit: u32) -> Vec<Listed> {
    answer(store.list(after, limit, deadline()).await, "list")
}

/// All pages, one after the other, of which only what is in `among` is kept.
async fn walk(store: &dyn Store, limit: u32, among: &BTreeMap<SequenceName, Row>) -> Vec<Listed> {
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = page(store, after.as_ref(), limit).await;
        let Some(last) = page.last() else {
            return listed;
        };
        let last = last.name.clone();
        assert_ne!(
            after.as_ref(),
            Some(&last),
            "a page ends with the name that it was to come after"
        );
        after = Some(last);
        listed.extend(page.into_iter().filter(|line| among.contains_key(&line.name)));
    }
}

/// Page by page, a listing shows every register once, as it is, whatever the size of a page.
pub async fn a_listing_shows_every_register(store: &dyn Store) {
    let registers = registers(store, "listed").await;
    for limit in [1, 3, NAMES, 1000] {
        let mut shown = BTreeMap::new();
        for Listed { name, row } in walk(store, limit, &registers).await {
            let row = row.map(|row| Row { written: None, ..row });
            let again = shown.insert(name.clone(), row);
            assert_eq!(again, None, "`{name}` is listed twice in pages of {limit}");
        }
        let wanted: BTreeMap<_, _> =
            registers.iter().map(|(name, row)| (name.clone(), Ok(*row))).collect();
        assert_eq!(shown, wanted, "a walk in pages of {limit}");
    }
}

/// "in the store's own order", which is the same for every walk and every size of page.
pub async fn a_listing_keeps_its_order(store: &dyn Store) {
    let registers = registers(store, "ordered").await;
    let order = async |limit| -> Vec<_> {
        walk(store, limit, &registers).await.into_iter().map(|line| line.name).collect()
    };
    let first = order(1000).await;
    for limit in [1000, 2] {
        assert_eq!(order(limit).await, first, "the order of a second walk, in pages of {limit}");
    }
}

/// "from the one after `after` on": the page before ended with `after`, and this one does not begin with it.
pub async fn a_page_follows_the_one_before(store: &dyn Store) {
    let registers = registers(store, "paged").await;
    let order = walk(store, 1000, &registers).await;
    for (index, line) in order.iter().enumerate() {
        let rest = page(store, Some(&line.name), 1000).await;
        assert!(
            rest.iter().all(|other| other.name != line.name),
            "the page after `{}` shows it",
            line.name
        );
        let next =
            rest.iter().find(|other| registers.contains_key(&other.name)).map(|other| &other.name);
        // A page of a thousand may end before the next of these in a store that holds many more.
        assert!(
            next == order.get(index + 1).map(|line| &line.name) || rest.len() == 1000,
            "the page after `{}` goes on with {next:?}",
            line.name
        );
    }
}

/// "Up to `limit` sequences", and not one when there are some.
pub async fn a_page_keeps_its_limit(store: &dyn Store) {
    registers(store, "limited").await;
    for limit in [1, 2, NAMES] {
        let length = page(store, None, limit).await.len();
        assert!(
            (1..=limit as usize).contains(&length),
            "a page of up to {limit} has {length} lines"
        );
    }
}
