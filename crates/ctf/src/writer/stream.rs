//! One data stream: packets, one after the other, to a file or anything else that takes bytes.

use std::io::Write;
use std::sync::Arc;

use super::error::WriteError;
use super::index::IndexEntry;
use super::packet::{EventRecord, PacketEnd, PacketStart, PacketWriter, says_size, stream_class};
use crate::schema::Schema;

/// Writes the packets of one stream. Nothing reaches the sink before a packet is closed.
#[derive(Debug)]
pub struct StreamWriter<W> {
    schema: Arc<Schema>,
    stream: usize,
    instance: u64,
    /// The size of packets is a multiple of so many bytes.
    multiple: u32,
    sink: W,
    open: Option<PacketWriter>,
    /// What a reader's clock shows after the packets so far.
    clock: u64,
    offset: u64,
    entries: Vec<IndexEntry>,
}

impl<W: Write> StreamWriter<W> {
    /// `stream` is an index into [`Schema::streams`], `instance` tells the streams of one class apart. The size of
    /// packets is a multiple of `multiple` bytes, if packets of this class can have padding.
    pub fn new(
        schema: Arc<Schema>,
        stream: usize,
        instance: u64,
        multiple: u32,
        sink: W,
    ) -> Result<StreamWriter<W>, WriteError> {
        stream_class(&schema, stream)?;
        Ok(StreamWriter {
            schema,
            stream,
            instance,
            multiple,
            sink,
            open: None,
            clock: 0,
            offset: 0,
            entries: Vec::new(),
        })
    }

    pub fn begin_packet(&mut self, start: PacketStart<'_>) -> Result<(), WriteError> {
        if self.open.is_some() {
            return Err(WriteError::PacketStillOpen);
        }
        let class = stream_class(&self.schema, self.stream)?;
        if !self.entries.is_empty() && !says_size(class) {
            return Err(WriteError::PacketsWithoutSizes {
                stream_class: class.id,
                reason: "files can have one packet only",
            });
        }
        let packet = PacketWriter::begin(
            Arc::clone(&self.schema),
            self.stream,
            self.instance,
            self.clock,
            start,
        )?;
        self.open = Some(packet);
        Ok(())
    }

    /// Appends an event to the open packet. After an error the packet is as it was before.
    pub fn event(&mut self, record: &EventRecord<'_>) -> Result<(), WriteError> {
        self.open
            .as_mut()
            .ok_or(WriteError::NoOpenPacket)?
            .event(record)
    }

    pub fn close_packet(&mut self, end: PacketEnd) -> Result<(), WriteError> {
        let open = self.open.take().ok_or(WriteError::NoOpenPacket)?;
        let packet = open.finish(end, self.multiple)?;
        self.sink.write_all(&packet.bytes)?;
        self.entries.push(IndexEntry {
            offset: self.offset,
            ..packet.entry
        });
        self.offset += packet.bytes.len() as u64;
        self.clock = packet.clock;
        Ok(())
    }

    /// What an index file of this stream says so far.
    pub fn index(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// Gives back the sink, with everything written to it.
    pub fn finish(mut self) -> Result<W, WriteError> {
        if self.open.is_some() {
            return Err(WriteError::PacketStillOpen);
        }
        self.sink.flush()?;
        Ok(self.sink)
    }
}
