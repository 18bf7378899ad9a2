use crate::ids::Site;

/// A place in a program from which it calls MPI, the same index on every rank that runs the same file. Where call paths are
/// recorded, it is such a place and how the program came there; places on the way have an index, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteInfo {
    /// The index.
    pub site: Site,
    /// The path of the file that holds it, as the first rank with it reports; empty where it lies in none.
    pub module: String,
    /// The build id of that file, in hexadecimal digits; empty where it has none.
    pub build_id: String,
    /// What the call returns to, as the file counts addresses.
    pub offset: u64,
    /// The calling function; none until it is looked up, and where the file has none.
    pub function: Option<String>,
    /// The source file, likewise.
    pub file: Option<String>,
    /// The line, likewise.
    pub line: Option<u32>,
    /// Where call paths are recorded: the site that called the function which this one is in. It has a smaller index.
    pub parent: Option<Site>,
}

impl SiteInfo {
    /// The words for people: function and line where they are known, else the place in the file.
    #[must_use]
    pub fn words(&self) -> String {
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let source = self.file.as_deref().map(|file| match self.line {
            Some(line) => format!("{}:{line}", last(file)),
            None => last(file),
        });
        let function = self.function.as_deref();
        match (source, function) {
            (Some(source), Some(function)) => format!("{source} {}", called(function)),
            (Some(source), None) => source,
            (None, Some(function)) => format!("{} in {}", called(function), last(&self.module)),
            (None, None) if self.module.is_empty() => format!("address {:#x}", self.offset),
            (None, None) if self.offset == 0 => last(&self.module),
            (None, None) => format!("{}+{:#x}", last(&self.module), self.offset),
        }
    }
}

impl SiteInfo {
    /// The words, and where call paths are recorded, which function called the one that it is in. `sites` are all of them.
    #[must_use]
    pub fn words_with_caller(&self, sites: &[SiteInfo]) -> String {
        let words = self.words();
        let caller = self.parent.and_then(|parent| sites.get(parent.index()));
        // What the system runs before the program says nothing of it.
        let caller = caller.filter(|caller| !caller.is_of_start());
        match caller.and_then(|caller| caller.function.as_deref()) {
            Some(function) => format!("{words}, called by {}", called(function)),
            None => words,
        }
    }
}

impl SiteInfo {
    /// Whether it is in what runs before `main` or before the function of a thread: the C library, the library of threads, the
    /// dynamic linker, or the entry of the program.
    #[must_use]
    pub fn is_of_start(&self) -> bool {
        let module = self.module.rsplit('/').next().unwrap_or_default();
        let is_named =
            |library: &str| module.strip_prefix(library).is_some_and(|rest| rest.starts_with(['.', '-']));
        let name = self.function.as_deref().unwrap_or_default();
        // Without debug information a name has an offset.
        let name = name.split_once("+0x").map_or(name, |(name, _)| name);
        ["libc", "libpthread", "ld-linux", "ld"].into_iter().any(is_named)
            || ["_start", "start_thread", "clone", "__clone", "clone3", "__clone3"].contains(&name)
            || name.starts_with("__libc_start_")
    }
}

/// A function's short name as in a call, if the full name is longer.
fn called(function: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "_:$.".contains(character);
    if function.chars().all(plain) { format!("{function}()") } else { function.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_named_by_what_is_known_of_it() {
        let mut site = SiteInfo { module: "/opt/solver".into(), offset: 0x2a, ..SiteInfo::default() };
        assert_eq!(site.words(), "solver+0x2a");
        site.function = Some("solve+0x1f".into());
        assert_eq!(site.words(), "solve+0x1f in solver");
        site.function = Some("solve".into());
        (site.file, site.line) = (Some("/src/main.c".into()), Some(42));
        assert_eq!(site.words(), "main.c:42 solve()");
        site.function = None;
        assert_eq!(site.words(), "main.c:42");
        assert_eq!(SiteInfo { offset: 16, ..SiteInfo::default() }.words(), "address 0x10");
        let modelled = SiteInfo { module: "halo: receive".into(), ..SiteInfo::default() };
        assert_eq!(modelled.words(), "halo: receive");
    }

    #[test]
    fn what_runs_before_main_is_found() {
        let site = |module: &str, function: &str| SiteInfo {
            module: module.into(),
            function: (!function.is_empty()).then(|| function.into()),
            ..SiteInfo::default()
        };
        for (module, function) in [
            ("/usr/lib/libc.so.6", "__libc_start_call_main"),
            ("/lib64/libc-2.31.so", ""),
            ("/lib64/libpthread-2.31.so", "start_thread"),
            ("/lib64/ld-linux-x86-64.so.2", ""),
            ("/opt/solver", "_start"),
            ("/opt/solver", "_start+0x21"),
            ("/opt/static", "__libc_start_main"),
            ("/opt/static", "clone3"),
        ] {
            assert!(site(module, function).is_of_start(), "{module} {function}");
        }
        for (module, function) in [
            ("/opt/solver", "main"),
            ("/opt/solver", "_start_turn"),
            ("/opt/solver", "clone_mesh"),
            ("/opt/libcomm.so", "start"),
            ("/opt/libc_wrapper.so", ""),
            ("", ""),
        ] {
            assert!(!site(module, function).is_of_start(), "{module} {function}");
        }
    }

    #[test]
    fn a_site_names_its_caller_unless_that_is_of_the_system() {
        let site = |parent, module: &str, function: &str| SiteInfo {
            parent,
            module: module.into(),
            function: Some(function.into()),
            ..SiteInfo::default()
        };
        let sites = [
            site(None, "/usr/lib/libc.so.6", "__libc_start_call_main"),
            site(Some(Site(0)), "/opt/solver", "main"),
            site(Some(Site(1)), "/opt/solver", "solve"),
        ];
        let words: Vec<String> = sites.iter().map(|site| site.words_with_caller(&sites)).collect();
        assert_eq!(words[1], "main() in solver");
        assert_eq!(words[2], "solve() in solver, called by main()");
    }
}
