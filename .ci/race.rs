//! A planted race: `.ci/tsan` fails where ThreadSanitizer does not report it.
static mut COUNT: u64 = 0;

fn main() {
    let threads = [(); 2].map(|()| {
        std::thread::spawn(|| {
            for _ in 0..1000 {
                // SAFETY: there is none, which is the point of it.
                unsafe { COUNT += 1 };
            }
        })
    });
    for thread in threads {
        thread.join().expect("it adds");
    }
    // SAFETY: the threads are gone.
    println!("{}", unsafe { *(&raw const COUNT) });
}
