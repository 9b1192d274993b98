//! `open_login`: opens the login page in the default browser.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ralph_run::Home;

use crate::console::write_stderr;

/// How long a browser has to read the login page.
pub(in crate::commands) const LOGIN_PAGE_KEPT: Duration = Duration::from_secs(30);

/// Opens the page in the default browser, if there is one.
pub(super) fn open_login(home: &Home, url: &str) -> Option<LoginPage> {
    match try_open_login(home, url) {
        Ok(page) => Some(page),
        Err(reason) => {
            write_stderr(&format!("ralph: {reason}; open the address yourself\n"));
            None
        }
    }
}

/// As [`open_login`], for a caller that has its own way to say why it failed.
pub(in crate::commands) fn try_open_login(home: &Home, url: &str) -> Result<LoginPage, String> {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let page = LoginPage::write(home.state_directory(), url)
        .map_err(|error| format!("cannot write the login page ({error})"))?;
    let opened = std::process::Command::new(opener)
        .arg(&page.path)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    match opened {
        Ok(_) => Ok(page),
        Err(_) => Err(format!("`{opener}` is not installed")),
    }
}

/// A private file that redirects to the login. The code must not be an argument of the browser, because every user can
/// read those.
#[derive(Debug)]
pub(in crate::commands) struct LoginPage {
    path: PathBuf,
}

impl LoginPage {
    fn write(directory: &Path, url: &str) -> io::Result<Self> {
        let path = directory.join(format!("login-{}.html", std::process::id()));
        // Left behind by a process with the same number.
        let _ = fs::remove_file(&path);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        let page = Self { path };
        let url = url.replace('&', "&#38;");
        let text = format!(
            "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
             <meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>ralph</title>\n"
        );
        file.write_all(text.as_bytes())?;
        Ok(page)
    }
}

impl Drop for LoginPage {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::LoginPage;

    #[test]
    fn the_page_that_leads_to_the_login_is_for_its_user_and_goes_away() {
        let directory = tempfile::tempdir().unwrap();
        let url = "http://127.0.0.1:7878/login#code=abc";
        let page = LoginPage::write(directory.path(), url).unwrap();
        let path = page.path.clone();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(
            fs::read_to_string(&path)
                .unwrap()
                .contains(&format!("url={url}\""))
        );
        assert!(!path.to_string_lossy().contains("abc"));
        drop(page);
        assert!(!path.exists());
        let page = LoginPage::write(directory.path(), &format!("{url}&run=r1")).unwrap();
        let text = fs::read_to_string(&page.path).unwrap();
        assert!(
            text.contains("url=http://127.0.0.1:7878/login#code=abc&#38;run=r1\""),
            "{text}"
        );
        drop(page);
        // One that was left behind, or is a link to somewhere else, is replaced.
        let elsewhere = directory.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        let page = LoginPage::write(directory.path(), url).unwrap();
        assert!(fs::symlink_metadata(&page.path).unwrap().is_file() && !elsewhere.exists());
    }
}
