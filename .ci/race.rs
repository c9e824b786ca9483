//! A planted race: `.ci/sanitize threads` fails if ThreadSanitizer does not report it.
static mut COUNT: u64 = 0;

fn main() {
    let threads = [(); 2].map(|()| {
        std::thread::spawn(|| {
            for _ in 0..1000 {
                // SAFETY: intentionally unsound.
                unsafe { COUNT += 1 };
            }
        })
    });
    for thread in threads {
        thread.join().expect("the thread does not panic");
    }
    // SAFETY: the threads have ended.
    println!("{}", unsafe { *(&raw const COUNT) });
}
