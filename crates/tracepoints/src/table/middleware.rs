//! Patched DDS implementations, which showed source timestamps before rmw did.

macro_rules! middleware {
    ({ $($before:tt)* } $next:ident $($later:ident)*) => { $next! { { $($before)*

/// A DDS writer was created.
DdsCreateWriter = dds_create_writer: Init, Dds {
    "dds:create_writer" since "patches for Foxy to Humble";

    WRITER: Pointer = "The writer.";
    TOPIC_NAME: Text = "Name of the DDS topic, with its prefix such as `rt/`.";
    GID: Gid only Versions("one of the patches") = "Identity of the writer.";
    GID_PREFIX: Gid only Versions("the other patch") = "Identity of the participant, 12 bytes.";
    GID_ENTITY: Gid only Versions("the other patch") = "Identity of the writer within it, 4 bytes.";
}

/// A DDS reader was created.
DdsCreateReader = dds_create_reader: Init, Dds {
    "dds:create_reader" since "patches for Foxy to Humble";

    READER: Pointer = "The reader.";
    TOPIC_NAME: Text = "Name of the DDS topic, with its prefix such as `rt/`.";
    GID: Gid only Versions("one of the patches") = "Identity of the reader.";
    GID_PREFIX: Gid only Versions("the other patch") = "Identity of the participant, 12 bytes.";
    GID_ENTITY: Gid only Versions("the other patch") = "Identity of the reader within it, 4 bytes.";
}

/// A DDS writer got a message to write.
DdsWriterWritePre = dds_writer_write_pre: Run, Dds {
    "dds:write_pre" since "patches for Foxy to Humble";

    WRITER: Pointer = "The writer.";
    DATA: Pointer = "The message.";
}

/// A DDS writer has stamped a message.
DdsWriterWrite = dds_writer_write: Run, Dds {
    "dds:write" since "patches for Foxy to Humble";

    WRITER: Pointer = "The writer.";
    DATA: Pointer only Versions("one of the patches") = "The message.";
    TIMESTAMP: Signed = "Source timestamp in ns.";
}

/// A DDS reader has handed out a message.
DdsReaderRead = dds_reader_read: Run, Dds {
    "dds:read" since "patches for Foxy to Humble";

    READER: Pointer = "The reader.";
    BUFFER: Pointer = "Where the message was put.";
}

    } $($later)* } };
}

pub(super) use middleware;
