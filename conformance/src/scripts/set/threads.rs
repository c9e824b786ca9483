//! Sessions with several threads, and the platform fields of headers.

use super::{Builder, CALL, Make, Recipe, details, event, nested, noise, type_of};

pub(super) const RECIPES: &[Recipe] = &[
    Recipe::new(
        "alternating-threads",
        &[
            "ATF-IEVT-003",
            "ATF-DEVT-004",
            "ATF-LINK-005",
            "ATF-MANI-006",
        ],
        "Three threads with details take turns; each has its own positions.",
        |script| {
            script.open(1).open(2).open(3);
            for seq in 0..60 {
                for thread in 1..=3 {
                    let event = nested(seq);
                    match (seq + u64::from(thread)) % 3 {
                        0 => script.detailed(thread, event, type_of(event), noise(5)),
                        _ => script.event(thread, event),
                    };
                }
            }
            script.finalize(2).finalize(3).finalize(1)
        },
    ),
    Recipe {
        is_deep: true,
        ..Recipe::new(
            "deep-folder",
            &["ATF-SESS-001", "ATF-SESS-002"],
            "The path of the folder is longer than 1,023 bytes.",
            |script| details(script, (0..3).map(|seq| (nested(seq), noise(5)))),
        )
    },
    Recipe::new(
        "threads-come-and-go",
        &["ATF-SESS-002", "ATF-MANI-006", "ATF-MANI-008"],
        "A thread opens after another is finalized; one has no events.",
        |script| {
            script.open(5).open(6);
            script.event(5, event(CALL, 50, 1, 1)).finalize(5);
            script.open(7).event(7, event(CALL, 10, 2, 1));
            script.finalize(6).finalize(7)
        },
    ),
    Recipe::new(
        "extreme-threads",
        &["ATF-SESS-001", "ATF-SESS-004", "ATF-LINK-009"],
        "Thread ids from 0 to the greatest u32; folder names are decimal.",
        |script| {
            let ids = [0, 1, 10, 65_536, (1 << 31) - 1, 1 << 31, u32::MAX];
            for id in ids {
                script
                    .open(id)
                    .detailed(id, nested(0), 3, id.to_le_bytes())
                    .finalize(id);
            }
            script
        },
    ),
    platform("platform-ios-arm64", |script| on(script, 2, 1, 1)),
    platform("platform-android-arm64", |script| on(script, 2, 2, 3)),
    platform("platform-macos-arm64", |script| on(script, 2, 3, 1)),
    platform("platform-linux-x86_64", |script| on(script, 1, 4, 3)),
    platform("platform-windows-x86_64", |script| on(script, 1, 5, 2)),
];

/// Makes a script that tests `arch`, `os` and the clock. A writer that cannot choose its platform
/// exits with code 77.
const fn platform(name: &'static str, make: Make) -> Recipe {
    Recipe {
        is_platform_exact: true,
        ..Recipe::new(
            name,
            &[
                "ATF-IHDR-008",
                "ATF-IHDR-009",
                "ATF-IHDR-010",
                "ATF-IHDR-011",
                "ATF-LINK-010",
                "ATF-MANI-009",
            ],
            "Both headers have the script's arch, os and clock.",
            make,
        )
    }
}

/// Writes one call with details on this platform.
fn on(script: &mut Builder, arch: u8, os: u8, clock_type: u8) -> &mut Builder {
    script.platform(arch, os, clock_type).open(0);
    script.detailed(0, nested(0), 3, noise(4)).finalize(0)
}
