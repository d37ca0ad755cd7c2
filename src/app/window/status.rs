//! Status of the window, for programs that drive it, such as the tests.

use std::{
    io::{Error, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// A window that is not due to be drawn within this time counts as idle: a cursor blinks more slowly.
pub(in crate::app) const IDLE: Duration = Duration::from_millis(100);

/// The window waits no longer than this for whoever listens.
const PATIENCE: Duration = Duration::from_secs(1);

/// One line of [`StatusStream`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) struct Status {
    /// Events of the window that were handled.
    pub(in crate::app) events: u64,
    /// Frames of the scene that were recorded.
    pub(in crate::app) frames: u64,
    /// True if all is drawn, nothing is being loaded and the GPU has nothing to do. Figures that are measured once the
    /// window has been at rest for a while may follow.
    pub(in crate::app) is_idle: bool,
}

/// Connection to the TCP address that `CANOPY_STATUS` names, such as `127.0.0.1:4000`. Each change of the status is
/// sent as a line, `EVENTS FRAMES idle` or `EVENTS FRAMES busy`.
#[derive(Debug)]
pub(in crate::app) struct StatusStream {
    stream: TcpStream,
    sent: Option<Status>,
}

impl StatusStream {
    /// Connects if the variable is set. A failure is logged: the window works without.
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
        let address: SocketAddr = address.parse().map_err(Error::other)?;
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// Sends `status` if it differs from the one before. Returns whether anybody still listens.
    pub(in crate::app) fn send(&mut self, status: Status) -> bool {
        if self.sent.replace(status) == Some(status) {
            return true;
        }
        let state = if status.is_idle { "idle" } else { "busy" };
        let line = format!("{} {} {state}\n", status.events, status.frames);
        self.stream.write_all(line.as_bytes()).is_ok()
    }
}
