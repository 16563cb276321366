//! The clause on names: each is a register of its own.

use super::calls::{
    apply, fresh_row, fresh_uuid, insert, move_to, name, read, read_birth, write_birth,
};
use crate::store::{Store, Swapped};

/// Names are compared byte by byte and are always data: case, quotes, blanks, patterns, other scripts, and 255 bytes.
pub async fn names_are_registers_of_their_own(store: &dyn Store) {
    let unique = &fresh_uuid().simple().to_string();
    let mut names = Vec::new();
    for text in [
        "orders",
        "Orders",
        "ORDERS",
        " orders",
        "orders ",
        "o'brien",
        "o''brien",
        "a\"b",
        "a\"\"b",
        "a`b",
        "a;b",
        "a--b",
        "a/*b",
        "a\\b",
        "a%b",
        "a_b",
        "$1",
        "?",
        ":name",
        "null",
        "naïve",
        "naive",
        "straße",
        "STRASSE",
        "İ",
        "ı",
        "注文",
        "🦀",
        "\u{10ffff}",
        "\u{a0}",
        "0",
        "00",
        "-1",
        "1e3",
    ] {
        names.push(name(format!("{unique}{text}")));
        names.push(name(format!("{text}{unique}")));
    }
    let room = 255 - unique.len();
    names.push(name(format!("{unique}{}", "x".repeat(room))));
    names.push(name(format!("{unique}{}y", "x".repeat(room - 1))));
    names.push(name(format!("{unique}{}", "x".repeat(room - 1))));

    let mut wanted = Vec::new();
    for (value, name) in (1..).zip(&names) {
        let (row, birth) = (fresh_row(), fresh_uuid());
        assert_eq!(
            write_birth(store, name, birth, None).await,
            Swapped::Applied,
            "the birth of `{name}`"
        );
        assert_eq!(insert(store, name, &row).await, Swapped::Applied, "the register of `{name}`");
        wanted.push((birth, apply(store, name, &row, move_to(value)).await));
    }
    for (name, (birth, row)) in names.iter().zip(wanted) {
        assert_eq!(read_birth(store, name).await, Some(birth), "the birth of `{name}`");
        assert_eq!(read(store, name).await, Some(row), "the register of `{name}`");
    }
}
