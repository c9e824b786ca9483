//! Tests how a run is divided into shards.

use atf_conformance::corpus;
use atf_conformance::run::Shard;

/// Returns all parts of a run that is divided into this many.
fn shards(count: usize) -> Vec<Shard> {
    let shard = |number| format!("{number}/{count}").parse().unwrap();
    (1..=count).map(shard).collect()
}

#[test]
fn shards_cover_a_list_once() {
    for total in 0..20 {
        for count in 1..8 {
            let items: Vec<_> = { shards(count).into_iter() }
                .flat_map(|shard| shard.range(total))
                .collect();
            assert_eq!(items, (0..total).collect::<Vec<_>>(), "{count} shards");
        }
    }
}

#[test]
fn each_case_belongs_to_one_shard_and_no_shard_is_empty() {
    let shards = shards(7);
    let takers = |case: &str| shards.iter().position(|shard| shard.takes(case));
    let cases = corpus::cases();
    let mut sizes = [0; 7];
    for name in cases.iter().map(|case| &case.name) {
        assert_eq!(shards.iter().filter(|shard| shard.takes(name)).count(), 1);
        sizes[takers(name).unwrap()] += 1;
    }
    let shares = sizes.map(|size| 100 * size / cases.len());
    assert!(shares.iter().all(|it| (8..18).contains(it)), "{shares:?}");
}

#[test]
fn only_shards_that_exist_are_accepted() {
    assert_eq!("1/1".parse(), Ok(Shard::WHOLE));
    for text in ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3"] {
        assert!(text.parse::<Shard>().is_err(), "{text}");
    }
}
