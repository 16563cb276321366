//! Which statement carries out a change, and the values that are bound to it. A null is never one of them (S9).

use scylla::value::CqlValue;
use uuid::Uuid;

use super::statements::{Action, Known};
use crate::definition::{Definition, SequenceName};
use crate::store::{Change, Row, StoreError, StoreErrorKind};

type Bound = (Action, Vec<CqlValue>);

/// The conditional update for a change of the row that is expected to be there.
pub(super) fn swap(
    name: &SequenceName,
    expected: &Row,
    change: Change,
) -> Result<Bound, StoreError> {
    let node = Some(expected.timestamp.node).filter(|node| !node.is_nil());
    let known = match (expected.created, node) {
        (Some(_), _) => Known::Born,
        (None, Some(_)) => Known::Adopted,
        (None, None) => Known::ByHand,
    };
    let key = CqlValue::Text(name.as_str().to_owned());
    let condition = || {
        let value = CqlValue::BigInt(expected.timestamp.value);
        // S9: of an adopted row the nulls are in the text of the statement.
        let node = Some(expected.timestamp.node).filter(|_| known != Known::ByHand);
        [Some(value), node.map(CqlValue::Uuid), expected.created.map(CqlValue::Uuid)]
    };
    let (action, mut values) = match change {
        Change::Move { to } => {
            let target = vec![CqlValue::Uuid(to.node), CqlValue::BigInt(to.value)];
            (Action::Move(known), target)
        }
        Change::Widen { definition } => return widen(key, expected, &definition),
        Change::Retire => (Action::Retire(known), Vec::new()),
        Change::Revive { to, created } => {
            let mut target = vec![CqlValue::Uuid(to.node), CqlValue::BigInt(to.value)];
            target.extend(defined(created, &expected.definition()));
            (Action::Revive(known), target)
        }
    };
    values.push(key);
    values.extend(condition().into_iter().flatten());
    Ok((action, values))
}

fn widen(key: CqlValue, expected: &Row, wider: &Definition) -> Result<Bound, StoreError> {
    let (Some(created), Some(narrow)) = (expected.created, expected.definition) else {
        let message = "a row without a definition has all bigints already and can't be widened";
        return Err(StoreError::new(StoreErrorKind::Refused, message));
    };
    let values = vec![
        CqlValue::BigInt(wider.min_value()),
        CqlValue::BigInt(wider.max_value()),
        key,
        CqlValue::Uuid(created),
        CqlValue::BigInt(narrow.min_value()),
        CqlValue::BigInt(narrow.max_value()),
    ];
    Ok((Action::Widen, values))
}

/// The insertion of a whole row.
pub(super) fn insert(name: &SequenceName, row: &Row) -> Result<Bound, StoreError> {
    let Some(created) = row.created else {
        let message = "a row is inserted with the identity of its birth, and this one has none";
        return Err(StoreError::new(StoreErrorKind::Refused, message));
    };
    let mut values = vec![
        CqlValue::Text(name.as_str().to_owned()),
        CqlValue::Uuid(row.timestamp.node),
        CqlValue::BigInt(row.timestamp.value),
    ];
    values.extend(defined(created, &row.definition()));
    values.push(CqlValue::Boolean(row.retired));
    Ok((Action::Insert, values))
}

/// The columns of the definition, in the order of the statements.
fn defined(created: Uuid, definition: &Definition) -> [CqlValue; 6] {
    [
        CqlValue::Uuid(created),
        CqlValue::BigInt(definition.start_value()),
        CqlValue::BigInt(definition.increment_by()),
        CqlValue::BigInt(definition.min_value()),
        CqlValue::BigInt(definition.max_value()),
        CqlValue::Boolean(definition.is_strict()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::cql::statements::Tables;
    use crate::timestamp::LamportTimestamp;

    fn name() -> SequenceName {
        "o'brien".parse().unwrap()
    }

    fn row() -> Row {
        Row::unused(Definition::default(), Uuid::from_u128(7))
    }

    fn adopted() -> Row {
        let (created, definition) = (None, None);
        Row { created, definition, ..row() }
    }

    fn changes() -> [Change; 3] {
        let to = LamportTimestamp::new(100, Uuid::from_u128(1));
        let created = Uuid::from_u128(8);
        [Change::Move { to }, Change::Retire, Change::Revive { to, created }]
    }

    #[test]
    fn s9_every_mark_has_its_value_and_none_is_null() {
        let tables = Tables::new("shop", "");
        let node = LamportTimestamp::new(0, Uuid::from_u128(3));
        for expected in [row(), adopted(), Row { timestamp: node, ..adopted() }] {
            for change in changes() {
                let (action, values) = swap(&name(), &expected, change).unwrap();
                let text = action.text(&tables);
                assert_eq!(text.matches('?').count(), values.len(), "{text}");
                let null = expected.created.is_none();
                assert_eq!(text.contains("created = null"), null, "{text}");
                assert!(text.contains("IF value = ?"), "{text}");
            }
        }
    }

    #[test]
    fn values_stand_in_the_order_of_the_statement() {
        let [move_on, ..] = changes();
        let (_, values) = swap(&name(), &row(), move_on).unwrap();
        let expected = [
            CqlValue::Uuid(Uuid::from_u128(1)),
            CqlValue::BigInt(100),
            CqlValue::Text("o'brien".to_owned()),
            CqlValue::BigInt(0),
            CqlValue::Uuid(Uuid::nil()),
            CqlValue::Uuid(Uuid::from_u128(7)),
        ];
        assert_eq!(values, expected);
    }

    #[test]
    fn s4_widening_binds_bounds_alone() {
        let definition = Definition::builder().int().build().unwrap();
        let narrow = Row { definition: Some(definition), ..row() };
        let wider = Definition::default();
        let (action, values) = swap(&name(), &narrow, Change::Widen { definition: wider }).unwrap();
        assert_eq!(action, Action::Widen);
        let bound = |value: i64| CqlValue::BigInt(value);
        assert_eq!(values[..2], [bound(1), bound(i64::MAX)]);
        assert_eq!(values[4..], [bound(1), bound(i32::MAX.into())]);
        let refused = swap(&name(), &adopted(), Change::Widen { definition: wider });
        assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Refused);
    }

    #[test]
    fn an_insertion_binds_every_column() {
        let (action, values) = insert(&name(), &row()).unwrap();
        let text = action.text(&Tables::new("shop", ""));
        assert_eq!(text.matches('?').count(), values.len());
        assert!(insert(&name(), &adopted()).is_err());
    }
}
