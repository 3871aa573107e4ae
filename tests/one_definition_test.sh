#!/usr/bin/env bash
# A type, alias, concept or constant of a namespace has one definition: with two, the linker would silently take either.
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

planted=$(mktemp -d)
trap 'rm -r "$planted"' EXIT
printf '%s\n' 'namespace room {' 'namespace {' 'struct Hidden {' '};' '}  // namespace' 'struct Forward;' 'class Twice final : public Base {' '};' \
    'using Alias = int;' 'inline constexpr int size = 1;' '}  // namespace room' > "$planted/a.hpp"
printf '%s\n' 'namespace room {' 'namespace {' 'struct Hidden {' '};' '}  // namespace' 'struct Forward;' 'struct Twice' '    : Base {' '};' \
    'enum class Alias { a };' 'inline constexpr double size = 2;' '}  // namespace room' > "$planted/b.cpp"
found=$(duplicates "$planted/a.hpp" "$planted/b.cpp" | cut -d: -f1-3)
[ "$found" = $'room::Alias\nroom::Twice\nroom::size' ] || { echo "planted duplicates were not found: $found"; exit 1; }

found=$(find "$folder"/{core,frontends,kernels,pipeline,stages,studies,viz} -path '*/node_modules' -prune -o \
    \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 | xargs -0 bash -c "$(declare -f duplicates); duplicates \"\$@\"" duplicates)
[ -z "$found" ] || { echo "$found"; exit 1; }
