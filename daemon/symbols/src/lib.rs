//! Where in a program its calls are made: addresses looked up in the files that were loaded.
//!
//! In: call sites as the collector saw them, with an address in a file. Out: their file, line and function, and sentences
//! about those that are not known. It never changes a site that is known, and stops when its time is up.
//!
//! A file counts only if it has the build id that the process saw: what was built anew since says nothing. Its debug
//! information may lie where distributions put it, by build id. A call's address is where it returns to, which is one
//! byte after the call. Where functions were inlined, the function is the one that is really there and the line that of
//! the innermost. Without debug information there are the names of symbols, without those nothing but the address.

use addr2line::{Loader, gimli};
use data_encoding::HEXLOWER;
use mpiscope_model::SiteInfo;
use object::read::{Object as _, ReadCache};
use object::{ObjectSymbol as _, SymbolKind};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A run's end is not held up for longer than this by looking up where its calls were made.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Where debug information of installed programs lies.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";

/// Looks up what is not known yet; says what could not be, in sentences.
pub fn look_up(sites: &mut [SiteInfo], patience: Duration) -> Vec<String> {
    let until = Instant::now() + patience;
    let mut by_module: FxHashMap<(String, String), Vec<usize>> = FxHashMap::default();
    for (at, site) in sites.iter().enumerate() {
        if site.function.is_none() && site.file.is_none() && site.module.starts_with('/') {
            by_module.entry((site.module.clone(), site.build_id.clone())).or_default().push(at);
        }
    }
    let mut modules: Vec<_> = by_module.into_iter().collect();
    modules.sort_unstable_by_key(|(_, sites)| sites.first().copied());
    let mut faults = Vec::new();
    let mut left = 0;
    for ((path, build_id), places) in modules {
        let module = match Module::open(Path::new(&path), &build_id) {
            Ok(module) => module,
            Err(why) => {
                faults.push(format!("where in {path} calls were made is not known: {why}"));
                continue;
            }
        };
        for at in places {
            if Instant::now() >= until {
                left += 1;
            } else {
                module.look_up(&mut sites[at]);
            }
        }
    }
    if left > 0 {
        faults.push(format!("{left} call sites were not looked up: it would have taken too long"));
    }
    faults
}

/// A function of a file: where it begins and how long it is.
struct Symbol {
    address: u64,
    bytes: u64,
    name: String,
}

struct Module {
    /// Debug information, if it can be read.
    debug: Option<Loader>,
    /// By address.
    symbols: Vec<Symbol>,
}

impl Module {
    fn open(path: &Path, build_id: &str) -> Result<Self, String> {
        let cache = ReadCache::new(File::open(path).map_err(|error| error.to_string())?);
        let file = object::File::parse(&cache).map_err(|error| error.to_string())?;
        let found = file.build_id().ok().flatten().unwrap_or_default();
        // The collector sends this number of bytes of it.
        let found = HEXLOWER.encode(&found[..found.len().min(24)]);
        if found != build_id {
            return Err("the file is another than it was then".into());
        }
        let separate = separate_file(build_id).filter(|path| path.is_file());
        let debug = Loader::new(separate.as_deref().unwrap_or(path)).ok();
        let functions = file.symbols().chain(file.dynamic_symbols());
        let mut symbols: Vec<Symbol> = functions
            .filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Text)
            .filter_map(|symbol| {
                Some(Symbol {
                    address: symbol.address(),
                    bytes: symbol.size(),
                    name: symbol.name().ok()?.into(),
                })
            })
            .collect();
        symbols.sort_by_key(|symbol| (symbol.address, symbol.bytes));
        Ok(Self { debug, symbols })
    }

    fn look_up(&self, site: &mut SiteInfo) {
        let address = site.offset.saturating_sub(1);
        self.source(address, site);
        if site.function.is_none()
            && let Some(symbol) = self.symbol(address)
        {
            let name = demangled(&symbol.name);
            let at = site.offset - symbol.address;
            // With a line, where in the function it is says nothing more.
            site.function = Some(if site.line.is_some() { name } else { format!("{name}+{at:#x}") });
        }
    }

    fn source(&self, address: u64, site: &mut SiteInfo) {
        let Some(debug) = &self.debug else { return };
        if let Ok(mut frames) = debug.find_frames(address) {
            // From the innermost to the one that is really there.
            while let Ok(Some(frame)) = frames.next() {
                let place = frame.location.as_ref();
                if let Some(file) = place.and_then(|place| place.file).filter(|_| site.file.is_none()) {
                    site.file = Some(file.to_owned());
                    site.line = place.and_then(|place| place.line).filter(|&line| line > 0);
                }
                if let Some(function) = &frame.function
                    && let Ok(name) = function.demangle()
                {
                    // Compilers of Fortran add to the names that are in the source.
                    let is_fortran = function.language.is_some_and(is_fortran);
                    let name = if is_fortran { name.trim_end_matches('_') } else { &name };
                    site.function = Some(name.to_owned());
                }
            }
        }
    }

    /// The function that an address lies in.
    fn symbol(&self, address: u64) -> Option<&Symbol> {
        let behind = self.symbols.partition_point(|symbol| symbol.address <= address);
        let nearest = self.symbols[..behind].last()?;
        (address - nearest.address < nearest.bytes).then_some(nearest)
    }
}

fn is_fortran(language: gimli::DwLang) -> bool {
    [
        gimli::DW_LANG_Fortran77,
        gimli::DW_LANG_Fortran90,
        gimli::DW_LANG_Fortran95,
        gimli::DW_LANG_Fortran03,
        gimli::DW_LANG_Fortran08,
        gimli::DW_LANG_Fortran18,
    ]
    .contains(&language)
}

fn demangled(name: &str) -> String {
    addr2line::demangle_auto(name.into(), None).into_owned()
}

/// Where distributions put what debuggers want to know of a file.
fn separate_file(build_id: &str) -> Option<PathBuf> {
    let (first, rest) = build_id.split_at_checked(2)?;
    Some(Path::new(DEBUG_FILES).join(first).join(format!("{rest}.debug")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpiscope_model::Site;
    use std::process::Command;

    const SOURCE: &str = "\
        extern int there(int);\n\
        static inline __attribute__((always_inline)) int inlined(int of) {\n\
        return there(of) + 1;\n\
        }\n\
        __attribute__((noinline)) int outer(int of) {\n\
        int first = there(of);\n\
        return first + inlined(of);\n\
        }\n";

    /// Compiles the source to a shared library; says where its calls return to.
    fn compiled(dir: &Path, words: &[&str]) -> (PathBuf, Vec<u64>) {
        let (source, file) = (dir.join("source.c"), dir.join("libsource.so"));
        std::fs::write(&source, SOURCE).unwrap();
        let mut compiler = Command::new("gcc");
        compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&file).arg(&source).args(words);
        assert!(compiler.status().unwrap().success());
        let listing = Command::new("objdump").arg("-d").arg(&file).output().unwrap().stdout;
        let listing = String::from_utf8(listing).unwrap();
        let lines: Vec<&str> = listing.lines().collect();
        let returns = lines.windows(2).filter(|pair| pair[0].contains("call") && pair[0].contains("<there"));
        let address = |line: &str| u64::from_str_radix(line.trim().split(':').next().unwrap(), 16).unwrap();
        (file, returns.map(|pair| address(pair[1])).collect())
    }

    fn sites(file: &Path, offsets: &[u64]) -> Vec<SiteInfo> {
        let cache = ReadCache::new(File::open(file).unwrap());
        let build_id = object::File::parse(&cache).unwrap().build_id().unwrap().unwrap_or_default().to_vec();
        let build_id = HEXLOWER.encode(&build_id);
        let site = |(site, &offset): (usize, &u64)| SiteInfo {
            site: Site::from_index(site),
            module: file.to_str().unwrap().into(),
            build_id: build_id.clone(),
            offset,
            ..SiteInfo::default()
        };
        offsets.iter().enumerate().map(site).collect()
    }

    #[test]
    fn calls_are_found_in_the_function_that_is_there_at_the_line_that_makes_them() {
        let dir = tempfile::tempdir().unwrap();
        let (file, offsets) = compiled(dir.path(), &["-g"]);
        let mut sites = sites(&file, &offsets);
        assert_eq!(look_up(&mut sites, PATIENCE), Vec::<String>::new());
        let found: Vec<_> = sites.iter().map(SiteInfo::words).collect();
        assert_eq!(found, ["source.c:6 outer()", "source.c:3 outer()"]);
    }

    #[test]
    fn without_debug_information_there_are_symbols_and_then_addresses() {
        let dir = tempfile::tempdir().unwrap();
        let (file, offsets) = compiled(dir.path(), &[]);
        let mut sites = self::sites(&file, &offsets);
        look_up(&mut sites, PATIENCE);
        assert!(sites[0].words().starts_with("outer+0x"), "{:?}", sites[0]);
        assert!(sites[0].words().ends_with(" in libsource.so"), "{:?}", sites[0]);
        let (file, offsets) = compiled(dir.path(), &["-fvisibility=hidden", "-s"]);
        let mut sites = self::sites(&file, &offsets);
        assert_eq!(look_up(&mut sites, PATIENCE), Vec::<String>::new());
        assert!(offsets.is_empty() || sites[0].words() == format!("libsource.so+{:#x}", offsets[0]));
        let mut nowhere = [SiteInfo { offset: 5, ..SiteInfo::default() }];
        assert_eq!(look_up(&mut nowhere, PATIENCE), Vec::<String>::new());
        assert_eq!(nowhere[0].words(), "address 0x5");
    }

    #[test]
    fn a_file_that_was_built_anew_or_is_gone_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (file, offsets) = compiled(dir.path(), &["-g"]);
        let before = sites(&file, &offsets);
        compiled(dir.path(), &["-g", "-DANEW", "-Wl,--build-id=0x0102"]);
        let mut sites = before.clone();
        let faults = look_up(&mut sites, PATIENCE);
        assert!(faults.len() == 1 && faults[0].contains("another than it was"), "{faults:?}");
        assert_eq!(sites, before);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(look_up(&mut sites, PATIENCE).len(), 1);
        std::fs::write(&file, "no program").unwrap();
        assert_eq!(look_up(&mut sites, PATIENCE).len(), 1);
        assert_eq!(sites, before);
    }

    #[test]
    fn nobody_waits_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let (file, offsets) = compiled(dir.path(), &["-g"]);
        let mut sites = sites(&file, &offsets);
        let faults = look_up(&mut sites, Duration::ZERO);
        assert!(faults[0].starts_with("2 call sites were not looked up"), "{faults:?}");
    }
}
