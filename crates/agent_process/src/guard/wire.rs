//! Messages between a guard and its client, over the control socket.
//!
//! First the client sends a [`ChildSpec`] with the child's three descriptors. After that both sides send small frames of
//! fixed size. Both ends are the same build, so there is no version.

use std::ffi::CStr;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};

/// The program to execute, with everything resolved.
#[cfg_attr(test, derive(Debug, PartialEq, Eq))]
pub(super) struct ChildSpec {
    pub(super) namespace: bool,
    pub(super) orphan_grace_milliseconds: u32,
    /// Program, working directory, arguments and environment, each with a NUL at its end.
    pub(super) strings: Vec<u8>,
    /// How many of the strings are arguments, the program's name included.
    pub(super) arguments: u32,
}

impl ChildSpec {
    pub(super) fn program(&self) -> &CStr {
        self.string(0)
    }

    pub(super) fn cwd(&self) -> &CStr {
        self.string(1)
    }

    pub(super) fn args(&self) -> impl Iterator<Item = &CStr> {
        self.strings().skip(2).take(self.arguments as usize)
    }

    pub(super) fn env(&self) -> impl Iterator<Item = &CStr> {
        self.strings().skip(2 + self.arguments as usize)
    }

    fn string(&self, index: usize) -> &CStr {
        self.strings().nth(index).unwrap_or_default()
    }

    fn strings(&self) -> impl Iterator<Item = &CStr> {
        self.strings
            .split_inclusive(|byte| *byte == 0)
            .filter_map(|string| CStr::from_bytes_with_nul(string).ok())
    }

    /// The length of the strings and the other fields, to be sent together with the descriptors.
    pub(super) fn header(&self) -> io::Result<[u8; HEADER_BYTES]> {
        let length =
            u32::try_from(self.strings.len()).map_err(|_| io::Error::from_raw_os_error(libc::E2BIG))?;
        Ok(join([
            length,
            self.arguments,
            u32::from(self.namespace),
            self.orphan_grace_milliseconds,
        ]))
    }

    /// Receives a [`Self::header`] with the child's descriptors, then the strings.
    pub(super) fn receive(socket: &impl AsFd) -> io::Result<(Self, [OwnedFd; 3])> {
        let mut header = [0_u8; HEADER_BYTES];
        let descriptors = receive_descriptors(socket, &mut header)?;
        let descriptors = <[OwnedFd; 3]>::try_from(descriptors).map_err(|_| unexpected_end())?;
        let [length, arguments, namespace, orphan_grace_milliseconds] = split(header);
        let mut strings = vec![0_u8; length as usize];
        if !read_exact(socket, &mut strings)? {
            return Err(unexpected_end());
        }
        let spec = Self {
            namespace: namespace == 1,
            orphan_grace_milliseconds,
            strings,
            arguments,
        };
        Ok((spec, descriptors))
    }
}

const HEADER_BYTES: usize = 16;

fn join<const NUMBERS: usize, const BYTES: usize>(numbers: [u32; NUMBERS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (place, number) in bytes.chunks_exact_mut(4).zip(numbers) {
        place.copy_from_slice(&number.to_ne_bytes());
    }
    bytes
}

fn split<const NUMBERS: usize, const BYTES: usize>(bytes: [u8; BYTES]) -> [u32; NUMBERS] {
    let mut numbers = [0; NUMBERS];
    for (number, place) in numbers.iter_mut().zip(bytes.as_chunks().0) {
        *number = u32::from_ne_bytes(*place);
    }
    numbers
}

/// What the client asks of a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    /// Send this signal to the child's process group.
    Signal(i32),
    /// Kill the child and all its descendants, then send [`Report::Gone`].
    KillAll,
    /// Stop the child and all its descendants by SIGSTOP, then send [`Report::Frozen`].
    Freeze,
    /// Continue the processes that were frozen.
    Thaw,
}

/// What a guard reports to its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// The process ids of the child and of the guard.
    Started { pid: i32, guard: i32 },
    /// The child did not start; `error` is an errno.
    Failed { step: FailedStep, error: i32 },
    /// The child's wait status, and how many of its descendants are alive.
    Exited { status: i32, descendants: i32 },
    /// The child and its descendants are gone, except `remaining` processes that could not be killed.
    Gone { killed: i32, remaining: i32 },
    /// The child and its descendants are stopped.
    Frozen,
}

/// The step at which starting the child failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailedStep {
    Fork,
    Namespace,
    WorkingDirectory,
    Setup,
    Exec,
}

pub(super) const REQUEST_BYTES: usize = 8;
pub(crate) const REPORT_BYTES: usize = 12;
pub(super) const FAILURE_BYTES: usize = 8;

impl Request {
    pub(super) fn encode(self) -> [u8; REQUEST_BYTES] {
        join(match self {
            Self::Signal(signal) => [1, signal.cast_unsigned()],
            Self::KillAll => [2, 0],
            Self::Freeze => [3, 0],
            Self::Thaw => [4, 0],
        })
    }

    pub(super) fn decode(frame: [u8; REQUEST_BYTES]) -> Option<Self> {
        match split(frame) {
            [1, signal] => Some(Self::Signal(signal.cast_signed())),
            [2, _] => Some(Self::KillAll),
            [3, _] => Some(Self::Freeze),
            [4, _] => Some(Self::Thaw),
            _ => None,
        }
    }
}

impl FailedStep {
    const ALL: [Self; 5] = [
        Self::Fork,
        Self::Namespace,
        Self::WorkingDirectory,
        Self::Setup,
        Self::Exec,
    ];

    fn from_code(code: i32) -> Self {
        Self::ALL
            .into_iter()
            .find(|step| *step as i32 == code)
            .unwrap_or(Self::Setup)
    }

    /// A frame from the child before its exec to the guard.
    pub(super) fn encode(self, error: i32) -> [u8; FAILURE_BYTES] {
        join([self as u32, error.cast_unsigned()])
    }

    pub(super) fn decode(frame: [u8; FAILURE_BYTES]) -> (Self, i32) {
        let [step, error] = split(frame).map(u32::cast_signed);
        (Self::from_code(step), error)
    }
}

impl Report {
    pub(super) fn encode(self) -> [u8; REPORT_BYTES] {
        let numbers = match self {
            Self::Started { pid, guard } => [1, pid, guard],
            Self::Failed { step, error } => [2, step as i32, error],
            Self::Exited { status, descendants } => [3, status, descendants],
            Self::Gone { killed, remaining } => [4, killed, remaining],
            Self::Frozen => [5, 0, 0],
        };
        join(numbers.map(i32::cast_unsigned))
    }

    pub(super) fn decode(frame: [u8; REPORT_BYTES]) -> Option<Self> {
        let [tag, first, second] = split(frame).map(u32::cast_signed);
        match tag {
            1 => Some(Self::Started {
                pid: first,
                guard: second,
            }),
            2 => Some(Self::Failed {
                step: FailedStep::from_code(first),
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
            5 => Some(Self::Frozen),
            _ => None,
        }
    }
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

/// Receives exactly `bytes` and the attached descriptors, which are close-on-exec. End of file is an error.
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

/// Fills `bytes` from a blocking descriptor. Returns `false` if end of file came first.
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

#[cfg(test)]
mod tests {
    use super::{ChildSpec, FailedStep, Report, Request, send_descriptors, write_all};
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    #[test]
    fn frames_survive_the_wire() {
        for request in [
            Request::Signal(15),
            Request::KillAll,
            Request::Freeze,
            Request::Thaw,
        ] {
            assert_eq!(Request::decode(request.encode()), Some(request));
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
            Report::Frozen,
        ] {
            assert_eq!(Report::decode(report.encode()), Some(report));
        }
        for step in FailedStep::ALL {
            assert_eq!(FailedStep::decode(step.encode(13)), (step, 13));
        }
    }

    #[test]
    fn a_child_spec_survives_the_wire_and_a_cut_one_is_refused() {
        let spec = || ChildSpec {
            namespace: true,
            orphan_grace_milliseconds: 150,
            strings: b"/bin/true\0/tmp\0true\0\0--x=\xff\0A=1\0".to_vec(),
            arguments: 3,
        };
        let receive = |strings: &[u8]| {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let stdio = std::fs::File::open("/dev/null").unwrap();
            let header = spec().header().unwrap();
            send_descriptors(&ours, &header, &[stdio.as_fd(); 3]).unwrap();
            write_all(&ours, strings).unwrap();
            drop(ours);
            ChildSpec::receive(&theirs)
        };
        let (received, _) = receive(&spec().strings).unwrap();
        assert_eq!(received, spec());
        assert_eq!((received.program(), received.cwd()), (c"/bin/true", c"/tmp"));
        assert_eq!(received.args().collect::<Vec<_>>(), [c"true", c"", c"--x=\xff"]);
        assert_eq!(received.env().collect::<Vec<_>>(), [c"A=1"]);
        for cut in 0..spec().strings.len() {
            assert!(receive(&spec().strings[..cut]).is_err(), "cut at {cut}");
        }
    }
}
