//! Which process started another one, for programs that must not take orders from the agents they run.

use std::net::SocketAddr;

use crate::spec::Marker;

/// Where a process comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lineage {
    /// It, or a process that started it, is below the ancestor or has the marker in its environment.
    Descendant,
    /// It comes from elsewhere.
    Unrelated,
    /// The process has ended.
    Gone,
}

/// Whether a process descends from `ancestor`, at any depth, or carries the marker.
///
/// Processes whose parent has died are found as long as the ancestor's guard lives, because they become its children.
/// The marker is looked for in the environment of the process and of everything above it, so removing it from one
/// process hides nothing. The ancestor itself is not its own descendant.
///
/// Linux only; elsewhere every process is [`Lineage::Unrelated`].
#[must_use]
pub fn lineage(pid: u32, ancestor: u32, marker: &Marker) -> Lineage {
    #[cfg(target_os = "linux")]
    {
        linux::lineage(pid, ancestor, marker)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (pid, ancestor, marker);
        Lineage::Unrelated
    }
}

/// Whether a descendant of one of these processes holds the client's end of a TCP connection within this machine.
///
/// Linux only; elsewhere it finds nothing. It reads much of `/proc`, so call it where blocking is allowed.
#[must_use]
pub fn is_connected_from_below(client: SocketAddr, server: SocketAddr, ancestors: &[u32]) -> bool {
    #[cfg(target_os = "linux")]
    {
        linux::is_connected_from_below(client, server, ancestors)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (client, server, ancestors);
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{HashMap, HashSet};
    use std::fs;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

    use rustix::process::Pid;

    use super::Lineage;
    use crate::guard::{all_processes, process_info};
    use crate::spec::Marker;

    pub(super) fn lineage(pid: u32, ancestor: u32, marker: &Marker) -> Lineage {
        let entry = format!("{}={}", marker.variable(), marker.value()).into_bytes();
        let Ok(mut current) = i32::try_from(pid) else {
            return Lineage::Gone;
        };
        if process_info(current).is_none() && !exists_unseen(current) {
            return Lineage::Gone;
        }
        if pid == ancestor {
            return Lineage::Unrelated;
        }
        while current > 0 {
            if has_variable(current, &entry) {
                return Lineage::Descendant;
            }
            let Some(process) = process_info(current) else {
                break;
            };
            if u32::try_from(process.parent) == Ok(ancestor) {
                return Lineage::Descendant;
            }
            current = process.parent;
        }
        Lineage::Unrelated
    }

    /// Whether a process is there that `/proc` does not show, because it belongs to another user or `/proc` is missing.
    fn exists_unseen(pid: i32) -> bool {
        let found = Pid::from_raw(pid).map(rustix::process::test_kill_process);
        matches!(found, Some(Ok(()) | Err(rustix::io::Errno::PERM)))
    }

    fn has_variable(pid: i32, entry: &[u8]) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == entry)
    }

    pub(super) fn is_connected_from_below(client: SocketAddr, server: SocketAddr, ancestors: &[u32]) -> bool {
        if ancestors.is_empty() {
            return false;
        }
        let Some(inode) = socket_inode(client, server) else {
            return false;
        };
        let link = format!("socket:[{inode}]");
        descendants(ancestors)
            .into_iter()
            .any(|pid| holds_descriptor(pid, &link))
    }

    fn descendants(ancestors: &[u32]) -> HashSet<i32> {
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for process in all_processes() {
            children.entry(process.parent).or_default().push(process.pid);
        }
        let mut found = HashSet::new();
        let mut waiting: Vec<i32> = ancestors
            .iter()
            .filter_map(|pid| i32::try_from(*pid).ok())
            .collect();
        while let Some(parent) = waiting.pop() {
            for child in children.remove(&parent).unwrap_or_default() {
                if found.insert(child) {
                    waiting.push(child);
                }
            }
        }
        found
    }

    fn holds_descriptor(pid: i32, link: &str) -> bool {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd"));
        descriptors
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|descriptor| fs::read_link(descriptor.path()).ok())
            .any(|target| target.as_os_str() == link)
    }

    /// The inode of the socket that has these two ends, as the system lists it.
    fn socket_inode(local: SocketAddr, remote: SocketAddr) -> Option<u64> {
        let ends = (canonical(local), canonical(remote));
        let tables =
            ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
        tables
            .iter()
            .flat_map(|table| table.lines().skip(1))
            .find_map(|line| {
                let mut fields = line.split_ascii_whitespace();
                let local = parse_end(fields.nth(1)?)?;
                let remote = parse_end(fields.next()?)?;
                // The inode is field 10 of the line.
                let inode = fields.nth(6)?.parse().ok()?;
                ((local, remote) == ends && inode != 0).then_some(inode)
            })
    }

    fn canonical(address: SocketAddr) -> (IpAddr, u16) {
        (address.ip().to_canonical(), address.port())
    }

    /// `0100007F:1F90`: words of 32 bits in the byte order of the machine.
    fn parse_end(text: &str) -> Option<(IpAddr, u16)> {
        let (address, port) = text.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        let word = |at: usize| {
            let word = u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok()?;
            Some(word.to_ne_bytes())
        };
        let address = match address.len() {
            8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
            32 => {
                let mut bytes = [0; 16];
                for (at, target) in bytes.chunks_exact_mut(4).enumerate() {
                    target.copy_from_slice(&word(at)?);
                }
                IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
            }
            _ => return None,
        };
        Some((address, port))
    }

    #[cfg(test)]
    mod tests {
        use super::parse_end;

        #[cfg(target_endian = "little")]
        #[test]
        fn the_systems_way_to_write_an_address_is_read() {
            let read = |text| parse_end(text).map(|(address, port)| format!("{address} {port}"));
            assert_eq!(read("0100007F:1F90").as_deref(), Some("127.0.0.1 8080"));
            let (v6, mapped) = (
                "00000000000000000000000001000000:0050",
                "0000000000000000FFFF00000100007F:0050",
            );
            assert_eq!(read(v6).as_deref(), Some("::1 80"));
            assert_eq!(read(mapped).as_deref(), Some("127.0.0.1 80"));
            for wrong in ["", "0100007F", "0100007:1F90", "0100007F:xyz", "é100007F:0050"] {
                assert_eq!(read(wrong), None, "{wrong}");
            }
        }
    }
}
