//! `Hosts`: the host names that the server answers to. Another name in a request is DNS rebinding: a domain of somebody
//! else that points at this machine.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName, Uri, header};

use super::error::AuthError;

/// Accepted host names, with their port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hosts {
    hosts: Vec<String>,
    origins: Vec<String>,
    /// The first name that the user gave, with its port.
    given: Option<String>,
    /// The name to tell a person.
    shown: String,
    port: u16,
    is_tls: bool,
}

/// What a request says about the page it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nothing.
    Absent,
    /// It is one of ours.
    Own,
    /// It is somebody else's.
    Foreign,
}

impl Hosts {
    /// The loopback names with `port`, and the names that the user gave. One of those may have a port of its own, as
    /// behind a proxy.
    pub(crate) fn new(port: u16, names: &[String]) -> Result<Self, AuthError> {
        let mut hosts = Vec::new();
        let mut origins = Vec::new();
        let mut given = None;
        for name in ["127.0.0.1", "localhost", "[::1]"] {
            with_ports(name, port, &mut hosts);
        }
        origins.extend(hosts.iter().map(|host| format!("http://{host}")));
        for name in names {
            let name = name.to_ascii_lowercase();
            if !is_name(&name) {
                return Err(AuthError::BadName(name));
            }
            let mut own = Vec::new();
            if has_port(&name) {
                own.push(name);
            } else {
                with_ports(&name, port, &mut own);
                // A proxy in front speaks on the usual ports.
                own.push(name);
            }
            given = given.or_else(|| own.first().cloned());
            origins.extend(
                own.iter()
                    .flat_map(|host| [format!("http://{host}"), format!("https://{host}")]),
            );
            hosts.extend(own);
        }
        Ok(Self {
            hosts,
            origins,
            given,
            shown: format!("127.0.0.1:{port}"),
            port,
            is_tls: false,
        })
    }

    /// The server speaks TLS itself: its pages are `https` and nothing else.
    pub(crate) fn set_tls(&mut self) {
        self.is_tls = true;
        if self.port == 443 {
            let bare = self.hosts.iter().filter_map(|host| host.strip_suffix(":443"));
            let bare: Vec<String> = bare.map(str::to_owned).collect();
            self.hosts.extend(bare);
        }
        self.origins = self.hosts.iter().map(|host| format!("https://{host}")).collect();
    }

    /// Whether the server speaks TLS itself.
    pub(crate) fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Where a person finds the server: the scheme, and the name with its port.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}", self.shown)
    }

    /// The address that the server listens on is one of its names, unless it stands for all of them.
    pub(crate) fn add_bound(&mut self, address: SocketAddr) {
        let port = address.port();
        if address.ip().is_unspecified() {
            let name = self.given.clone();
            self.shown = name.unwrap_or_else(|| format!("localhost:{port}"));
            return;
        }
        // Without the scope of an IPv6 address, which no browser sends.
        self.shown = SocketAddr::new(address.ip(), port).to_string();
        if self.hosts.contains(&self.shown) {
            return;
        }
        let mut own = Vec::new();
        let name = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        with_ports(&name, port, &mut own);
        self.origins
            .extend(own.iter().map(|host| format!("http://{host}")));
        self.hosts.extend(own);
        if self.is_tls {
            self.set_tls();
        }
    }

    /// Whether a request asks for us: one `Host`, and it is exactly one of our names; the address, if it names a host
    /// as well, names the same one.
    pub(crate) fn is_own(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let Some(host) = only(headers, &header::HOST) else {
            return false;
        };
        let in_uri = uri.authority().map(|authority| authority.as_str());
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
            && in_uri.is_none_or(|authority| authority.eq_ignore_ascii_case(host))
    }

    /// Which page a request comes from, as it says itself.
    pub(crate) fn origin(&self, headers: &HeaderMap) -> Origin {
        if !headers.contains_key(header::ORIGIN) {
            return Origin::Absent;
        }
        match only(headers, &header::ORIGIN) {
            Some(origin) if self.origins.iter().any(|own| own == origin) => Origin::Own,
            Some(_) | None => Origin::Foreign,
        }
    }
}

/// The value of a header that must be there once.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    if values.next().is_some() {
        return None;
    }
    first.to_str().ok()
}

fn with_ports(name: &str, port: u16, hosts: &mut Vec<String>) {
    hosts.push(format!("{name}:{port}"));
    if port == 80 {
        hosts.push(name.to_owned());
    }
}

fn has_port(name: &str) -> bool {
    let after_address = name.rsplit(']').next().unwrap_or(name);
    after_address.contains(':')
}

fn is_name(name: &str) -> bool {
    let (host, port) = match name.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        Some(_) | None => (name, None),
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number > 0));
    let is_address = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
    let is_domain = !host.is_empty()
        && host.len() <= 253
        && host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
        && !host.starts_with('.')
        && !host.ends_with('.');
    is_port && (is_address || is_domain)
}

#[cfg(test)]
mod tests {
    use super::{Hosts, Origin};
    use axum::http::{HeaderMap, HeaderValue, Uri, header};

    fn asks(hosts: &Hosts, host: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
        hosts.is_own(&Uri::from_static("/"), &headers)
    }

    #[test]
    fn only_our_names_with_our_port_are_ours() {
        let hosts = Hosts::new(7878, &["box.example".to_owned()]).unwrap();
        for own in [
            "127.0.0.1:7878",
            "LOCALHOST:7878",
            "[::1]:7878",
            "box.example",
            "box.example:7878",
        ] {
            assert!(asks(&hosts, own), "{own}");
        }
        for foreign in [
            "127.0.0.1",
            "localhost:80",
            "127.0.0.1:7878.evil.com",
            "evil.com:7878",
            "box.example:80",
        ] {
            assert!(!asks(&hosts, foreign), "{foreign}");
        }
    }

    #[test]
    fn the_address_that_is_told_is_one_that_is_answered() {
        let names = ["box.example".to_owned(), "other.example".to_owned()];
        for (bound, names, shown) in [
            ("127.0.0.1:7878", &names[..], "127.0.0.1:7878"),
            ("127.0.0.2:7878", &[], "127.0.0.2:7878"),
            ("192.168.1.5:7878", &[], "192.168.1.5:7878"),
            ("[fd00::1]:7878", &[], "[fd00::1]:7878"),
            ("0.0.0.0:7878", &[], "localhost:7878"),
            ("[::]:7878", &[], "localhost:7878"),
            ("0.0.0.0:7878", &names[..], "box.example:7878"),
        ] {
            let mut hosts = Hosts::new(7878, names).unwrap();
            hosts.add_bound(bound.parse().unwrap());
            assert_eq!(hosts.url(), format!("http://{shown}"));
            assert!(asks(&hosts, shown), "{bound}");
            let mut headers = HeaderMap::new();
            let origin = HeaderValue::from_str(&format!("http://{shown}")).unwrap();
            headers.append(header::ORIGIN, origin);
            assert_eq!(hosts.origin(&headers), Origin::Own, "{bound}");
        }
        let mut hosts = Hosts::new(7878, &[]).unwrap();
        hosts.add_bound("0.0.0.0:7878".parse().unwrap());
        assert!(!asks(&hosts, "0.0.0.0:7878") && !asks(&hosts, "192.168.1.5:7878"));
    }

    #[test]
    fn with_tls_only_https_pages_are_ours() {
        for (port, bound, names) in [
            (7878, "192.168.1.5:7878", vec!["box.example".to_owned()]),
            (443, "0.0.0.0:443", vec!["box.example".to_owned()]),
        ] {
            let mut hosts = Hosts::new(port, &names).unwrap();
            hosts.set_tls();
            hosts.add_bound(bound.parse().unwrap());
            let origin_of = |origin: &str| {
                let mut headers = HeaderMap::new();
                headers.append(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
                hosts.origin(&headers)
            };
            let own = [
                hosts.url(),
                "https://box.example".to_owned(),
                format!("https://localhost:{port}"),
            ];
            for own in own {
                assert_eq!(origin_of(&own), Origin::Own, "{own}");
                assert_eq!(origin_of(&own.replace("https", "http")), Origin::Foreign, "{own}");
            }
            assert_eq!(asks(&hosts, "localhost"), port == 443);
        }
    }

    #[test]
    fn a_name_is_checked_before_it_is_trusted() {
        for name in [
            "", ".", "a/b", "a b", "*", "http://a", "a:0", "a:x", "[::1", "a.", "user@a",
        ] {
            assert!(Hosts::new(1, &[name.to_owned()]).is_err(), "{name}");
        }
        assert!(Hosts::new(1, &["[fd00::1]:443".to_owned()]).is_ok());
    }

    #[test]
    fn two_origins_are_none_of_ours() {
        let hosts = Hosts::new(7878, &[]).unwrap();
        let mut headers = HeaderMap::new();
        assert_eq!(hosts.origin(&headers), Origin::Absent);
        headers.append(header::ORIGIN, HeaderValue::from_static("http://localhost:7878"));
        assert_eq!(hosts.origin(&headers), Origin::Own);
        headers.append(header::ORIGIN, HeaderValue::from_static("http://localhost:7878"));
        assert_eq!(hosts.origin(&headers), Origin::Foreign);
    }
}
