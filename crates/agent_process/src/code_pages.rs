//! Memory that a program's own code takes.
#![expect(
    unsafe_code,
    reason = "the program's segments and advice about them have no safe interface"
)]

use std::ffi::{c_int, c_void};

/// Gives back the memory of this program's code and constants that it does not use any more, such as what only its
/// start needed. The system maps far more of a program than is run; what is needed again comes back from its cache
/// within microseconds. For a program that stays for hours, once it is settled.
pub fn release_code_pages() {
    // SAFETY: the callback has the type that is asked for, keeps nothing and does not unwind.
    unsafe { libc::dl_iterate_phdr(Some(release_program), std::ptr::null_mut()) };
}

unsafe extern "C" fn release_program(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the linker gives a valid description, with as many headers as it says, for the time of the call.
    let (base, headers) = unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        (info.dlpi_addr, headers)
    };
    let page = rustix::param::page_size() as u64;
    for header in headers {
        // What was never writable is as it is in the file: it can be read again. What the linker has changed lies in
        // segments that are writable by their header, also where it took that right away later.
        if header.p_type != libc::PT_LOAD || header.p_flags & libc::PF_W != 0 {
            continue;
        }
        let start = (base + header.p_vaddr).next_multiple_of(page);
        let end = (base + header.p_vaddr + header.p_memsz) / page * page;
        if start < end {
            let length = (end - start) as usize;
            // SAFETY: these pages are mapped from the file, read-only and unchanged, so that dropping them loses nothing.
            unsafe { libc::madvise(start as *mut c_void, length, libc::MADV_DONTNEED) };
        }
    }
    // The first is the program itself; libraries are shared with everybody anyway.
    1
}

#[cfg(test)]
mod tests {
    use super::release_code_pages;

    /// What is mapped of files, in KiB.
    fn file_pages() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let mut values = status.lines().filter_map(|line| line.strip_prefix("RssFile:"));
        let value = values.next().unwrap().trim().trim_end_matches("kB").trim();
        value.parse().unwrap()
    }

    #[test]
    fn a_program_goes_on_with_less_memory() {
        let before = file_pages();
        release_code_pages();
        let after = file_pages();
        assert!(after < before, "{after} KiB of {before} are still there");
        // Code and constants that were given back are what they were.
        assert_eq!(format!("{:?}", [1.5, f64::MAX]), format!("{:?}", [1.5, f64::MAX]));
    }
}
