//! `connection_origin`: whether an agent is at the other end of a TCP connection within this machine.

use std::net::SocketAddr;

/// Where the client of a connection runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionOrigin {
    /// A descendant of one of the ancestors has the client's socket.
    Descendant,
    /// Another process has it, or the client is on another machine.
    Unrelated,
    /// The client is on this machine, but no process could be shown to have its socket.
    Unknown,
}

/// Finds the process that has the client's socket, and tells whether it descends from one of `ancestors`.
///
/// A process can hide its socket: by not being dumpable, in the descriptor table of a single thread, or in the queue of
/// a Unix socket. So a socket that is found nowhere is [`ConnectionOrigin::Unknown`], not unrelated. The exception is an
/// SSH server's process for a login: its descriptors are hidden as well, and it makes the connections of a tunnel.
///
/// Linux only; elsewhere every client is [`ConnectionOrigin::Unrelated`]. It reads much of `/proc`, so call it where
/// blocking is allowed.
#[must_use]
pub fn connection_origin(client: SocketAddr, server: SocketAddr, ancestors: &[u32]) -> ConnectionOrigin {
    #[cfg(target_os = "linux")]
    {
        linux::connection_origin(client, server, ancestors)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (client, server, ancestors);
        ConnectionOrigin::Unrelated
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{HashMap, HashSet};
    use std::fs;
    use std::io;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

    use super::ConnectionOrigin;
    use crate::guard::{ProcessInfo, all_processes};

    /// The system's list of sockets can change while it is read, so one that is missing is looked for again.
    const LOOKUPS: usize = 3;

    pub(super) fn connection_origin(
        client: SocketAddr,
        server: SocketAddr,
        ancestors: &[u32],
    ) -> ConnectionOrigin {
        if ancestors.is_empty() {
            return ConnectionOrigin::Unrelated;
        }
        let socket = match find_socket(client, server) {
            Some(socket) => socket,
            None if is_local(client.ip()) => return ConnectionOrigin::Unknown,
            None => return ConnectionOrigin::Unrelated,
        };
        // The client has closed it already.
        if socket.inode == 0 {
            return ConnectionOrigin::Unknown;
        }
        let link = format!("socket:[{}]", socket.inode);
        let processes = all_processes();
        let below = descendants(&processes, ancestors);
        let (mut is_hidden_below, mut may_be_tunnel) = (false, false);
        for pid in &below {
            match search(&format!("/proc/{pid}/fd"), &link) {
                Search::Found => return ConnectionOrigin::Descendant,
                Search::Hidden => is_hidden_below = true,
                Search::Missing => {}
            }
        }
        for process in processes.iter().filter(|process| !below.contains(&process.pid)) {
            match search(&format!("/proc/{}/fd", process.pid), &link) {
                Search::Found => return ConnectionOrigin::Unrelated,
                Search::Hidden => may_be_tunnel = may_be_tunnel || is_of_other_parent(process, socket.owner),
                Search::Missing => {}
            }
        }
        // A thread can have descriptors of its own.
        for pid in &below {
            match search_threads(*pid, &link) {
                Search::Found => return ConnectionOrigin::Descendant,
                Search::Hidden => is_hidden_below = true,
                Search::Missing => {}
            }
        }
        // The client may have closed it before its process was looked at.
        if find_socket(client, server) != Some(socket) {
            return ConnectionOrigin::Unknown;
        }
        let is_own = socket.owner == rustix::process::geteuid().as_raw();
        if is_hidden_below || (is_own && !may_be_tunnel) {
            return ConnectionOrigin::Unknown;
        }
        ConnectionOrigin::Unrelated
    }

    enum Search {
        Found,
        Missing,
        /// The descriptors cannot be read.
        Hidden,
    }

    fn search(directory: &str, link: &str) -> Search {
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => return Search::of(&error),
        };
        let mut outcome = Search::Missing;
        for entry in entries.flatten() {
            match fs::read_link(entry.path()) {
                Ok(target) if target.as_os_str() == link => return Search::Found,
                Ok(_) => {}
                Err(error) => {
                    if let Search::Hidden = Search::of(&error) {
                        outcome = Search::Hidden;
                    }
                }
            }
        }
        outcome
    }

    fn search_threads(pid: i32, link: &str) -> Search {
        let threads = match fs::read_dir(format!("/proc/{pid}/task")) {
            Ok(threads) => threads,
            Err(error) => return Search::of(&error),
        };
        let mut outcome = Search::Missing;
        for thread in threads.flatten() {
            match search(&format!("{}/fd", thread.path().display()), link) {
                Search::Found => return Search::Found,
                Search::Hidden => outcome = Search::Hidden,
                Search::Missing => {}
            }
        }
        outcome
    }

    impl Search {
        /// A process, thread or descriptor that has gone meanwhile holds nothing.
        fn of(error: &io::Error) -> Self {
            let is_gone = error.kind() == io::ErrorKind::NotFound
                || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error());
            if is_gone { Self::Missing } else { Self::Hidden }
        }
    }

    fn descendants(processes: &[ProcessInfo], ancestors: &[u32]) -> HashSet<i32> {
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for process in processes {
            children.entry(process.parent).or_default().push(process.pid);
        }
        let mut found = HashSet::new();
        let mut pending: Vec<i32> = ancestors
            .iter()
            .filter_map(|pid| i32::try_from(*pid).ok())
            .collect();
        while let Some(parent) = pending.pop() {
            for child in children.remove(&parent).unwrap_or_default() {
                if found.insert(child) {
                    pending.push(child);
                }
            }
        }
        found
    }

    /// Whether a user's process was started by another user's, as an SSH server's process for a login is.
    fn is_of_other_parent(process: &ProcessInfo, user: u32) -> bool {
        user_of(process.pid) == Some(user) && user_of(process.parent).is_some_and(|parent| parent != user)
    }

    /// The effective user of a process.
    fn user_of(pid: i32) -> Option<u32> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        users.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    /// Whether an address is one of this machine's: only then can a socket be bound to it.
    fn is_local(address: IpAddr) -> bool {
        let bound = UdpSocket::bind((address.to_canonical(), 0));
        !bound.is_err_and(|error| error.kind() == io::ErrorKind::AddrNotAvailable)
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Socket {
        /// 0 if no process has it any more.
        inode: u64,
        /// The user who made it.
        owner: u32,
    }

    /// The socket that has these two ends, as the system lists it.
    fn find_socket(local: SocketAddr, remote: SocketAddr) -> Option<Socket> {
        let ends = [local, remote].map(|end| (end.ip().to_canonical(), end.port()));
        (0..LOOKUPS).find_map(|_| {
            let tables =
                ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| fs::read_to_string(path).unwrap_or_default());
            let mut lines = tables.iter().flat_map(|table| table.lines().skip(1));
            lines.find_map(|line| {
                let (found, socket) = parse_line(line)?;
                (found == ends).then_some(socket)
            })
        })
    }

    type End = (IpAddr, u16);

    fn parse_line(line: &str) -> Option<([End; 2], Socket)> {
        let mut fields = line.split_ascii_whitespace();
        let local = parse_end(fields.nth(1)?)?;
        let remote = parse_end(fields.next()?)?;
        // The user is field 8 of the line, the inode field 10.
        let owner = fields.nth(4)?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        Some(([local, remote], Socket { inode, owner }))
    }

    /// `0100007F:1F90`: words of 32 bits in the byte order of the machine.
    fn parse_end(text: &str) -> Option<End> {
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
        use super::{Socket, is_local, parse_end, parse_line};

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

        #[test]
        fn a_line_of_the_list_names_the_owner_and_the_inode() {
            let line = "   1: 0100007F:A1B2 0100007F:1EC6 01 00000000:00000000 00:00000000 00000000  1000        0 \
                        123456 1 0000000000000000 20 4 30 10 -1";
            let (ends, socket) = parse_line(line).unwrap();
            assert_eq!((ends[0].1, ends[1].1), (0xa1b2, 0x1ec6));
            let expected = Socket {
                inode: 123_456,
                owner: 1000,
            };
            assert_eq!(socket, expected);
        }

        #[test]
        fn an_address_of_this_machine_is_told_from_others() {
            assert!(is_local("127.0.0.1".parse().unwrap()) && is_local("127.3.2.1".parse().unwrap()));
            // Reserved for documentation.
            assert!(!is_local("192.0.2.1".parse().unwrap()));
        }
    }
}
