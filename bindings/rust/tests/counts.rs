//! The crate, alone or under `tally stat`: what can be counted is counted, and all else is absent, with a reason.

// A value that the compiler does not compute in advance.
fn kept(value: u64) -> u64 {
    unsafe { std::ptr::read_volatile(&value) }
}

fn rounds(count: u64) -> u64 {
    (0..count).fold(0, |sum, number| kept(sum + number))
}

#[test]
fn counts_are_absent_or_proportional() {
    let counters = tally::Counters::open(&["instructions"]).unwrap();
    let count = |number| counters.count(|| { kept(rounds(number)); }).remove(0);
    let (few, many, more) = (count(1000), count(2000), count(3000));
    assert_eq!((few.event.as_str(), few.unit.as_str()), ("instructions:u", "events"));
    match (few.value, many.value, more.value) {
        (Some(few), Some(many), Some(more)) => assert!((more - 2 * many + few).abs() <= few / 100 && few > 1000),
        _ => assert!(few.trust == "absent" && !few.reason.is_empty(), "{:?}", few),
    }
}

#[test]
fn regions_are_counted_by_name() {
    for _ in 0..3 {
        let _region = tally::region("rounds");
        kept(rounds(1000));
    }
    let count = tally::region_count("rounds", "instructions").unwrap();
    match count.total.value {
        Some(total) => assert!(count.entries == 3 && count.least <= count.most && total >= 3000, "{:?}", count),
        None => assert!(!count.total.reason.is_empty()),
    }
}

#[test]
fn errors_say_what_to_do() {
    let error = tally::Counters::open(&["instructionz"]).err().unwrap();
    assert!(error.message.contains("instructionz") && error.hint.contains("instructions"), "{}", error);
}
