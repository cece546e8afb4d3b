use crate::schema::Schema;
#[derive(Debug)]
pub struct Metadata {
    pub schema: Schema,
    pub text: String,
    pub warnings: Vec<Warning>,
    pub cut_short: Option<String>,
}
#[derive(Debug)]
pub struct Warning {
    pub line: u32,
    pub column: u32,
    pub message: String,
}
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct MetadataError {
    pub line: u32,
    pub column: u32,
    pub message: String,
    pub hint: Option<String>,
}
pub fn read(_bytes: &[u8]) -> Result<Metadata, MetadataError> {
    Err(MetadataError {
        line: 0,
        column: 0,
        message: String::new(),
        hint: None,
    })
}
