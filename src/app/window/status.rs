//! Status of the window for programs that drive it, such as the tests.

use std::{
    io::{Error, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// A window without a redraw due within this time counts as idle. A cursor blinks more slowly.
pub(in crate::app) const IDLE: Duration = Duration::from_millis(100);

/// Maximum time that the window waits for the receiver.
const TIMEOUT: Duration = Duration::from_secs(1);

/// One line of [`StatusStream`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) struct Status {
    /// Number of handled window events.
    pub(in crate::app) events: u64,
    /// Number of recorded frames of the scene.
    pub(in crate::app) frames: u64,
    /// True if everything is drawn, nothing is being loaded and the GPU is idle. Delayed measurements of a
    /// window at rest may still follow.
    pub(in crate::app) is_idle: bool,
}

/// Connection to the TCP address in `CANOPY_STATUS`, such as `127.0.0.1:4000`. Each change of the status is
/// sent as a line, `EVENTS FRAMES idle` or `EVENTS FRAMES busy`.
#[derive(Debug)]
pub(in crate::app) struct StatusStream {
    stream: TcpStream,
    sent: Option<Status>,
}

impl StatusStream {
    /// Connects if the variable is set. A failure is logged, and the window works without a connection.
    pub(in crate::app) fn open() -> Option<Self> {
        let address = std::env::var("CANOPY_STATUS").ok()?;
        match Self::connect(&address) {
            Ok(stream) => Some(Self { stream, sent: None }),
            Err(error) => {
                log::warn!("CANOPY_STATUS={address}: {error}");
                None
            }
        }
    }

    fn connect(address: &str) -> Result<TcpStream, Error> {
        let address: SocketAddr = address
            .parse()
            .map_err(|_| Error::other("expected IP:PORT, such as 127.0.0.1:4000"))?;
        let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(stream)
    }

    /// Sends `status` if it has changed. Returns true while the receiver is connected.
    pub(in crate::app) fn send(&mut self, status: Status) -> bool {
        if self.sent.replace(status) == Some(status) {
            return true;
        }
        let state = if status.is_idle { "idle" } else { "busy" };
        let line = format!("{} {} {state}\n", status.events, status.frames);
        self.stream.write_all(line.as_bytes()).is_ok()
    }
}
