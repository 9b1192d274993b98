//! What runner and guard say to each other over the control socket.
//!
//! First the child's description with its three descriptors, then small frames of fixed size in both
//! directions. Both ends are the same build, so there is no version to negotiate.

use std::ffi::CString;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

/// The child as the guard needs it: everything resolved, nothing left to look up.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChildSpec {
    pub(super) program: CString,
    pub(super) args: Vec<CString>,
    pub(super) env: Vec<CString>,
    pub(super) cwd: CString,
    pub(super) namespace: bool,
    pub(super) orphan_grace_milliseconds: u32,
}

/// What the runner may ask of a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Send this signal to the child's process group.
    Signal(i32),
    /// Kill the child and every descendant, then report [`Report::Gone`].
    KillAll,
}

/// What a guard tells its runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// The program runs under this process id, and the guard under that one.
    Started { pid: i32, guard: i32 },
    /// It does not; `error` is an errno.
    Failed { step: FailedStep, error: i32 },
    /// The child's wait status, and how many of its descendants are alive.
    Exited { status: i32, descendants: i32 },
    /// Nothing of the child's family is alive, but for `remaining` processes that could not be killed.
    Gone { killed: i32, remaining: i32 },
}

/// Where starting the child failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailedStep {
    Fork,
    Namespace,
    WorkingDirectory,
    Setup,
    Exec,
}

const STEPS: [FailedStep; 5] = [
    FailedStep::Fork,
    FailedStep::Namespace,
    FailedStep::WorkingDirectory,
    FailedStep::Setup,
    FailedStep::Exec,
];

pub(super) const ORDER_BYTES: usize = 5;
pub(crate) const REPORT_BYTES: usize = 9;

impl Order {
    pub(super) fn encode(self) -> [u8; ORDER_BYTES] {
        let (tag, value) = match self {
            Self::Signal(signal) => (1, signal),
            Self::KillAll => (2, 0),
        };
        let mut frame = [tag; ORDER_BYTES];
        frame[1..].copy_from_slice(&value.to_le_bytes());
        frame
    }

    pub(super) fn decode(frame: [u8; ORDER_BYTES]) -> Option<Self> {
        let [tag, value @ ..] = frame;
        match tag {
            1 => Some(Self::Signal(i32::from_le_bytes(value))),
            2 => Some(Self::KillAll),
            _ => None,
        }
    }
}

impl FailedStep {
    pub(super) fn code(self) -> u8 {
        STEPS
            .iter()
            .position(|step| *step == self)
            .map_or(u8::MAX, |index| index as u8)
    }

    pub(super) fn from_code(code: u8) -> Self {
        STEPS.get(usize::from(code)).copied().unwrap_or(Self::Setup)
    }
}

impl Report {
    pub(super) fn encode(self) -> [u8; REPORT_BYTES] {
        let (tag, first, second) = match self {
            Self::Started { pid, guard } => (1, pid, guard),
            Self::Failed { step, error } => (2, i32::from(step.code()), error),
            Self::Exited { status, descendants } => (3, status, descendants),
            Self::Gone { killed, remaining } => (4, killed, remaining),
        };
        let mut frame = [tag; REPORT_BYTES];
        frame[1..5].copy_from_slice(&first.to_le_bytes());
        frame[5..].copy_from_slice(&second.to_le_bytes());
        frame
    }

    pub(crate) fn decode(frame: [u8; REPORT_BYTES]) -> Option<Self> {
        let [tag, a, b, c, d, second @ ..] = frame;
        let (first, second) = (i32::from_le_bytes([a, b, c, d]), i32::from_le_bytes(second));
        match tag {
            1 => Some(Self::Started {
                pid: first,
                guard: second,
            }),
            2 => Some(Self::Failed {
                step: FailedStep::from_code(a),
                error: second,
            }),
            3 => Some(Self::Exited {
                status: first,
                descendants: second,
            }),
            4 => Some(Self::Gone {
                killed: first,
                remaining: second,
            }),
            _ => None,
        }
    }
}

impl ChildSpec {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.namespace)];
        put_number(&mut bytes, self.orphan_grace_milliseconds);
        put_strings(&mut bytes, std::slice::from_ref(&self.program));
        put_strings(&mut bytes, std::slice::from_ref(&self.cwd));
        put_strings(&mut bytes, &self.args);
        put_strings(&mut bytes, &self.env);
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> io::Result<Self> {
        let mut reader = Reader(bytes);
        let namespace = reader.take(1)? == [1];
        let orphan_grace_milliseconds = reader.number()?;
        Ok(Self {
            program: reader.strings()?.pop().unwrap_or_default(),
            cwd: reader.strings()?.pop().unwrap_or_default(),
            args: reader.strings()?,
            env: reader.strings()?,
            namespace,
            orphan_grace_milliseconds,
        })
    }
}

/// What announces a description: its length. The child's three descriptors travel with it.
pub(super) fn header(body: &[u8]) -> io::Result<[u8; 4]> {
    let length = u32::try_from(body.len()).map_err(|_| io::Error::from_raw_os_error(libc::E2BIG))?;
    Ok(length.to_le_bytes())
}

/// Receives a [`header`], the descriptors and the description.
pub(super) fn receive_spec(socket: &impl AsFd) -> io::Result<(ChildSpec, [OwnedFd; 3])> {
    let mut length = [0_u8; 4];
    let descriptors = receive_descriptors(socket, &mut length)?;
    let descriptors = <[OwnedFd; 3]>::try_from(descriptors).map_err(|_| unexpected_end())?;
    let mut body = vec![0_u8; u32::from_le_bytes(length) as usize];
    if !read_exact(socket, &mut body)? {
        return Err(unexpected_end());
    }
    Ok((ChildSpec::decode(&body)?, descriptors))
}

/// Sends a few bytes with descriptors attached, without waiting.
pub(super) fn send_descriptors(
    socket: &impl AsFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    let sent = rustix::net::sendmsg(
        socket,
        &[IoSlice::new(bytes)],
        &mut ancillary,
        SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
    )?;
    if sent == bytes.len() {
        Ok(())
    } else {
        Err(unexpected_end())
    }
}

/// Receives exactly `bytes` and the descriptors attached to them, closed on exec. An orderly end is an error too.
pub(super) fn receive_descriptors(socket: &impl AsFd, bytes: &mut [u8]) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
    let received = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(socket, &mut [IoSliceMut::new(bytes)], &mut ancillary, flags)
    })?;
    if received.bytes != bytes.len() {
        return Err(unexpected_end());
    }
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    Ok(descriptors)
}

/// Writes all of `bytes` to a blocking descriptor.
pub(super) fn write_all(descriptor: &impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| rustix::io::write(descriptor, bytes))?;
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Fills `bytes` from a blocking descriptor; `false` when the end came first.
pub(super) fn read_exact(descriptor: &impl AsFd, bytes: &mut [u8]) -> io::Result<bool> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match rustix::io::retry_on_intr(|| rustix::io::read(descriptor, &mut *rest))? {
            0 => return Ok(false),
            read => filled += read,
        }
    }
    Ok(true)
}

pub(super) fn unexpected_end() -> io::Error {
    io::Error::from(io::ErrorKind::UnexpectedEof)
}

fn put_number(bytes: &mut Vec<u8>, number: u32) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

fn put_strings(bytes: &mut Vec<u8>, strings: &[CString]) {
    put_number(bytes, strings.len() as u32);
    for string in strings {
        put_number(bytes, string.as_bytes().len() as u32);
        bytes.extend_from_slice(string.as_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(unexpected_end)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> io::Result<u32> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn strings(&mut self) -> io::Result<Vec<CString>> {
        let count = self.number()?;
        (0..count)
            .map(|_| {
                let length = self.number()? as usize;
                CString::new(self.take(length)?).map_err(io::Error::from)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{ChildSpec, FailedStep, Order, Report};

    #[test]
    fn frames_survive_the_wire() {
        for order in [Order::Signal(15), Order::KillAll] {
            assert_eq!(Order::decode(order.encode()), Some(order));
        }
        for report in [
            Report::Started {
                pid: 77_777,
                guard: 77_776,
            },
            Report::Failed {
                step: FailedStep::WorkingDirectory,
                error: 2,
            },
            Report::Exited {
                status: 256,
                descendants: 3,
            },
            Report::Gone {
                killed: 5,
                remaining: 1,
            },
        ] {
            assert_eq!(Report::decode(report.encode()), Some(report));
        }
    }

    #[test]
    fn a_child_spec_survives_the_wire_and_a_cut_one_is_refused() {
        let spec = ChildSpec {
            program: c"/bin/true".into(),
            args: vec![c"true".into(), c"".into(), c"--x=\xff".into()],
            env: vec![c"A=1".into()],
            cwd: c"/".into(),
            namespace: true,
            orphan_grace_milliseconds: 150,
        };
        let bytes = spec.encode();
        assert_eq!(ChildSpec::decode(&bytes).unwrap(), spec);
        for cut in 0..bytes.len() {
            assert!(ChildSpec::decode(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }
}
