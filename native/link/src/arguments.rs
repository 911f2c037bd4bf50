//! Command lines of `--name value` pairs, every one of them needed.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::fault::Fault;

pub struct Arguments {
    values: BTreeMap<String, String>,
    usage: &'static str,
}

impl Arguments {
    pub fn read(words: impl IntoIterator<Item = String>, usage: &'static str) -> Result<Self, Fault> {
        let mut this = Self { values: BTreeMap::new(), usage };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").ok_or_else(|| this.wrong(format!("unexpected {word}")))?;
            let value = words.next().ok_or_else(|| this.wrong(format!("{word} has no value")))?;
            this.values.insert(name.into(), value);
        }
        Ok(this)
    }

    pub fn take(&mut self, name: &str) -> Result<String, Fault> {
        self.values.remove(name).ok_or_else(|| self.wrong(format!("--{name} is missing")))
    }

    /// A value of the type asked for: a count, an address.
    pub fn parse<T: FromStr>(&mut self, name: &str) -> Result<T, Fault> {
        let text = self.take(name)?;
        text.parse().map_err(|_| self.wrong(format!("--{name} {text} is not understood")))
    }

    /// Refuses what nobody took.
    pub fn finish(self) -> Result<(), Fault> {
        match self.values.keys().next() {
            Some(name) => Err(self.wrong(format!("unknown --{name}"))),
            None => Ok(()),
        }
    }

    fn wrong(&self, cause: String) -> Fault {
        Fault::new(cause, self.usage)
    }
}
