#!/usr/bin/env bash
# A type, alias, concept or constant of a namespace has one definition: with two, the linker would silently take either. And a
# class or enumeration has one meaning: no two have one name, in whatever namespace, class, function or file they are.
# Usage: one_definition_test.sh SOURCE_FOLDER
set -euo pipefail
folder=$1

# duplicates FILE...: "name: file:line file:line" of everything that is defined twice in a named namespace
duplicates() {
    awk '
        FNR == 1 { depth = raw = 0 }
        /R"[^(]*\(/ { raw = 1 }
        raw { if ($0 ~ /\)[^("]*"/) raw = 0; next }
        /^(inline )?namespace [^=]*\{$/ || /^namespace \{$/ { path[depth++] = $0 ~ /^namespace \{/ ? "" : $(NF - 1); next }
        /^\}  \/\/ namespace/ { --depth; next }
        {
            name = ""
            if (match($0, /^(struct|class|union|enum|enum class) (alignas\([^)]*\) )?[A-Za-z_0-9]+( final)?( :.*)?( \{.*)?$/)) {
                name = $0
                sub(/^(struct|class|union|enum class|enum) (alignas\([^)]*\) )?/, "", name)
            } else if (match($0, /^(using|concept) [A-Za-z_0-9]+ =/)) {
                name = $2
            } else if (match($0, /^inline constexpr [^={(]*[={]/)) {
                name = substr($0, 1, RLENGTH - 1)
                sub(/ *(\[.*)?$/, "", name)
                sub(/.* /, "", name)
            }
            sub(/[^A-Za-z_0-9].*/, "", name)
            if (name == "" || depth == 0) next
            full = ""
            for (i = 0; i < depth; ++i) {
                if (path[i] == "") next
                full = full path[i] "::"
            }
            full = full name
            places[full] = places[full] " " FILENAME ":" FNR
            ++count[full]
        }
        END { for (full in count) if (count[full] > 1) print full ":" places[full] }
    ' "$@" | sort
}

# homonyms FILE...: the same of classes and enumerations, wherever they are defined
homonyms() {
    awk '
        FNR == 1 { raw = 0; open = "" }
        open != "" && /^ *:/ { places[open] = places[open] " " place; ++count[open] }
        { open = "" }
        /R"[^(]*\(/ { raw = 1 }
        raw { if ($0 ~ /\)[^("]*"/) raw = 0; next }
        match($0, /^ *(template <.*> )?(struct|class|union|enum class|enum) (alignas\([^)]*\) )?[A-Za-z_0-9]+( final)?( : .*| \{.*)?$/) {
            if ($0 ~ /;$/ && $0 !~ /\{/) next
            name = $0
            sub(/^ *(template <.*> )?(struct|class|union|enum class|enum) (alignas\([^)]*\) )?/, "", name)
            ends = name ~ /^[A-Za-z_0-9]+( final)?$/
            sub(/[^A-Za-z_0-9].*/, "", name)
            if (ends) { open = name; place = FILENAME ":" FNR; next }  # a base may follow on the next line
            places[name] = places[name] " " FILENAME ":" FNR
            ++count[name]
        }
        END { for (name in count) if (count[name] > 1) print name ":" places[name] }
    ' "$@" | sort
}

planted=$(mktemp -d)
trap 'rm -r "$planted"' EXIT
printf '%s\n' 'namespace room {' 'namespace {' 'struct Hidden {' '};' '}  // namespace' 'struct Forward;' 'class Twice final : public Base {' '};' \
    'using Alias = int;' 'inline constexpr int size = 1;' '}  // namespace room' > "$planted/a.hpp"
printf '%s\n' 'namespace room {' 'namespace {' 'struct Hidden {' '};' '}  // namespace' 'struct Forward;' 'struct Twice' '    : Base {' '};' \
    'enum class Alias { a };' 'inline constexpr double size = 2;' '}  // namespace room' > "$planted/b.cpp"
found=$(duplicates "$planted/a.hpp" "$planted/b.cpp" | cut -d: -f1-3)
[ "$found" = $'room::Alias\nroom::Twice\nroom::size' ] || { echo "planted duplicates were not found: $found"; exit 1; }

printf '%s\n' 'namespace {' 'struct Inside;' 'struct Outside {' '    enum class Inside { a };' '    struct Outside::Later {' '};' '}  // namespace' > "$planted/a.hpp"
printf '%s\n' 'template <typename T>' 'class Inside' '    : Base {' '};' 'struct Inside<int> {' '};' > "$planted/b.cpp"
found=$(homonyms "$planted/a.hpp" "$planted/b.cpp" | cut -d: -f1)
[ "$found" = Inside ] || { echo "planted homonyms were not found: $found"; exit 1; }

found=$(find "$folder"/{core,frontends,kernels,pipeline,stages,studies,viz} -path '*/node_modules' -prune -o \
    \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 | xargs -0 bash -c "$(declare -f duplicates); duplicates \"\$@\"" duplicates)
[ -z "$found" ] || { echo "$found"; exit 1; }

# The header of the library has a namespace of its own, whose names are those that its users expect.
found=$(find "$folder"/{core,frontends,kernels,pipeline,stages,studies,viz} \( -path '*/node_modules' -o -path '*/library/include' \) -prune -o \
    \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 | xargs -0 bash -c "$(declare -f homonyms); homonyms \"\$@\"" homonyms)
[ -z "$found" ] || { echo "$found"; exit 1; }
