//! Tests unsafe code directly, so that Miri can check it (`.ci/sanitize miri`): Miri cannot map
//! files.

use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use atf::internal::{JournalArea, Spare, Turns, write_zeros};
use memmap2::{MmapMut, MmapRaw};

/// The size of a ring's header in bytes.
const HEADER: usize = 128;
/// The size of each area in bytes.
const CAPACITY: usize = 64;

/// Returns both areas of a ring with `size` bytes, in memory without a file.
fn areas(size: usize) -> Option<(JournalArea, JournalArea)> {
    let map = MmapRaw::from(MmapMut::map_anon(size).unwrap());
    JournalArea::both(&Arc::new(map), CAPACITY)
}

#[test]
fn two_threads_fill_the_areas_of_one_ring() {
    let (index, detail) = areas(HEADER + 2 * CAPACITY).unwrap();
    thread::scope(|scope| {
        for (mut area, byte) in [(index, 1), (detail, 2)] {
            scope.spawn(move || {
                for size in 1..=CAPACITY {
                    area.bytes_mut()[size - 1] = byte;
                    area.publish(size);
                    assert_eq!(area.bytes()[..size], vec![byte; size]);
                }
            });
        }
    });
}

#[test]
fn a_mapping_that_is_too_short_has_no_areas() {
    assert!(areas(HEADER + 2 * CAPACITY - 1).is_none());
    let map = MmapRaw::from(MmapMut::map_anon(1).unwrap());
    assert!(JournalArea::both(&Arc::new(map), usize::MAX).is_none());
}

#[test]
#[cfg_attr(miri, ignore = "Miri's files have no blocks")]
fn zeros_are_written_if_space_cannot_be_allocated() {
    let mut file = tempfile::tempfile().unwrap();
    write_zeros(&mut file, 100_000).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 100_000);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        assert!(file.metadata().unwrap().blocks() * 512 >= 100_000);
    }
}

#[test]
#[cfg(unix)]
#[cfg_attr(miri, ignore = "Miri cannot map files")]
fn text_replaces_the_file_if_it_fits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    fs::write(&path, "a longer text").unwrap();
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let spare = Spare::map(&file, 13, None).unwrap();
    assert!(spare.store(b"short"));
    assert_eq!(fs::read(&path).unwrap(), b"short        ");
    assert!(!spare.store(b"a text too long"));
    assert_eq!(fs::read(&path).unwrap(), b"short        ");
    // Only on Linux does the process survive writing to a page that no longer exists.
    if cfg!(target_os = "linux") {
        file.set_len(0).unwrap();
        assert!(!spare.store(b"short"));
    }
}

#[test]
fn only_one_thread_has_a_turn_at_a_time() {
    const TURNS: u64 = if cfg!(miri) { 100 } else { 100_000 };
    let turns = Turns::new(0_u64);
    let count = || {
        let mut done = 0;
        while done < TURNS {
            // This is a load and a store, between which a second thread could intervene.
            let add = |value: &mut u64| *value += 1;
            done += u64::from(turns.with(add).is_some());
        }
    };
    thread::scope(|scope| {
        scope.spawn(count);
        scope.spawn(count);
    });
    assert_eq!(turns.with(|value| *value), Some(2 * TURNS));
}

#[test]
fn a_value_in_use_is_not_lent_again_and_a_panic_releases_it() {
    let turns = Turns::new(0);
    assert_eq!(turns.with(|_| turns.with(|_| ())), Some(None));
    let panicking = AssertUnwindSafe(|| turns.with(|_| panic!("expected")));
    catch_unwind(panicking).unwrap_err();
    assert_eq!(turns.with(|_| ()), Some(()));
}
