//! A trace folder: metadata, stream files, and index files if wanted.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::WriteError;
use super::index::index_file;
use super::metadata_packets::metadata_packets;
use super::stream::StreamWriter;
use super::tsdl::tsdl;
use crate::schema::{Schema, Uuid};

/// How a trace folder is written.
#[derive(Debug, Clone)]
pub struct TraceOptions {
    pub metadata: MetadataForm,
    /// Whether each stream file gets its `index/NAME.idx`.
    pub index: bool,
    /// The size of packets is a multiple of so many bytes.
    pub packet_multiple: u32,
}

#[derive(Debug, Clone)]
pub enum MetadataForm {
    /// TSDL, readable with an editor.
    PlainText,
    /// TSDL in packets, as LTTng writes it.
    Packets,
    /// The metadata file of another trace: the only way to write streams of a CTF 2 trace.
    Copied(Vec<u8>),
}

impl Default for TraceOptions {
    fn default() -> TraceOptions {
        TraceOptions {
            metadata: MetadataForm::PlainText,
            index: false,
            packet_multiple: 4096,
        }
    }
}

/// Creates the files of one trace folder.
#[derive(Debug)]
pub struct TraceWriter {
    folder: PathBuf,
    schema: Arc<Schema>,
    options: TraceOptions,
}

/// A stream file that is being written.
#[derive(Debug)]
pub struct StreamFile {
    pub writer: StreamWriter<BufWriter<File>>,
    path: PathBuf,
    index: Option<PathBuf>,
}

impl TraceWriter {
    /// Creates the folder if needed, and its `metadata`, which must not exist yet.
    pub fn create(
        folder: &Path,
        schema: Arc<Schema>,
        options: TraceOptions,
    ) -> Result<TraceWriter, WriteError> {
        let metadata = match &options.metadata {
            MetadataForm::PlainText => tsdl(&schema)?.into_bytes(),
            MetadataForm::Packets => {
                let uuid = schema.uuid.unwrap_or(Uuid([0; 16]));
                metadata_packets(&tsdl(&schema)?, uuid, schema.byte_order)
            }
            MetadataForm::Copied(bytes) => bytes.clone(),
        };
        create_folder(folder)?;
        let path = folder.join("metadata");
        let mut file = create_file(&path)?;
        file.write_all(&metadata)
            .map_err(|error| WriteError::File { path, error })?;
        Ok(TraceWriter {
            folder: folder.to_owned(),
            schema,
            options,
        })
    }

    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Creates the file of a stream; see [`StreamWriter::new`].
    pub fn stream(
        &self,
        name: &str,
        stream: usize,
        instance: u64,
    ) -> Result<StreamFile, WriteError> {
        if name.is_empty() || name.starts_with('.') || name.contains('/') || name == "metadata" {
            return Err(WriteError::BadFileName {
                name: name.to_owned(),
            });
        }
        let path = self.folder.join(name);
        let file = BufWriter::new(create_file(&path)?);
        let writer = StreamWriter::new(
            Arc::clone(&self.schema),
            stream,
            instance,
            self.options.packet_multiple,
            file,
        )?;
        let index =
            (self.options.index).then(|| self.folder.join("index").join(format!("{name}.idx")));
        Ok(StreamFile {
            writer,
            path,
            index,
        })
    }
}

impl StreamFile {
    /// Completes the file, and writes its index if there is to be one.
    pub fn finish(self) -> Result<(), WriteError> {
        let index = index_file(self.writer.index());
        let path = self.path;
        (self.writer.finish()?.into_inner()).map_err(|error| WriteError::File {
            path,
            error: error.into_error(),
        })?;
        let Some(path) = self.index else {
            return Ok(());
        };
        if let Some(folder) = path.parent() {
            create_folder(folder)?;
        }
        let mut file = create_file(&path)?;
        file.write_all(&index)
            .map_err(|error| WriteError::File { path, error })
    }
}

pub(crate) fn create_folder(path: &Path) -> Result<(), WriteError> {
    fs::create_dir_all(path).map_err(|error| WriteError::File {
        path: path.to_owned(),
        error,
    })
}

pub(crate) fn create_file(path: &Path) -> Result<File, WriteError> {
    File::create_new(path).map_err(|error| WriteError::File {
        path: path.to_owned(),
        error,
    })
}
