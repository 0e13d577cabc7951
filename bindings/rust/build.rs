// Links libtally: from the directory in TALLY_LIBRARY_DIR, or from where the linker finds it.
fn main() {
    println!("cargo:rerun-if-env-changed=TALLY_LIBRARY_DIR");
    if let Ok(directory) = std::env::var("TALLY_LIBRARY_DIR") {
        println!("cargo:rustc-link-search=native={}", directory);
    }
    println!("cargo:rustc-link-lib=dylib=tally");
}
