//! What an archive is compressed with.

use std::io::{self, BufRead, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::StreamingDecoder;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstandard,
    Xz,
    Bzip2,
}

/// What xz may take to unpack, in KiB. The strongest of its presets takes 65 MiB; the file says how much, and may say anything.
const MOST_MEMORY_OF_XZ: u32 = 256 << 10;

impl Compression {
    /// The bytes that were compressed.
    pub(crate) fn reader<'r>(self, packed: impl BufRead + 'r) -> io::Result<Box<dyn Read + 'r>> {
        Ok(match self {
            Compression::None => Box::new(packed),
            Compression::Gzip => Box::new(MultiGzDecoder::new(packed)),
            Compression::Zstandard => Box::new(Frames {
                packed: Some(packed),
                frame: None,
            }),
            Compression::Xz => Box::new(XzReader::new_mem_limit(packed, true, MOST_MEMORY_OF_XZ)),
            Compression::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
        })
    }
}

/// Zstandard's files may be several frames, one behind the other.
struct Frames<R: BufRead> {
    /// Between two frames.
    packed: Option<R>,
    frame: Option<Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>>,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let length = frame.read(buffer)?;
                if length > 0 || buffer.is_empty() {
                    return Ok(length);
                }
                self.packed = self.frame.take().map(|frame| frame.into_inner());
            }
            let Some(mut packed) = self.packed.take() else {
                return Ok(0);
            };
            if packed.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = StreamingDecoder::new(packed).map_err(io::Error::other)?;
            self.frame = Some(Box::new(frame));
        }
    }
}
