# What nvcc would compile, as far as it can change: a source, what -include names, and what those
# include from beside themselves or from the folders of -I, each file once. The compiler's own headers
# are not among it. Fails where that cannot be read off.

function find(name, near, i, line, path) {
    for (i = 0; i <= folders; i++) {
        path = (i && name !~ /^\// ? folder[i] "/" : name ~ /^\// ? "" : near) name
        if ((getline line < path) >= 0) {
            close(path)
            return path
        }
    }
    return ""
}

function take(path, line, near) {
    if (path == "" || path in taken)
        return
    taken[path] = 1
    near = path
    sub(/[^\/]*$/, "", near)
    while ((getline line < path) > 0) {
        print line
        if (line !~ /^[ \t]*#[ \t]*include/)
            continue
        if (line !~ /[<"][^>"]+[>"]/)
            exit 1
        gsub(/^[^<"]*[<"]|[>"].*$/, "", line)
        take(find(line, near))
    }
    close(path)
}

BEGIN {
    if (ENVIRON["CPATH"] ENVIRON["NVCC_PREPEND_FLAGS"] ENVIRON["NVCC_APPEND_FLAGS"] != "")
        exit 1
    for (i = 1; i < ARGC; i++) {
        word = ARGV[i]
        if (word == "-I")
            folder[++folders] = ARGV[++i]
        else if (word ~ /^-I/)
            folder[++folders] = substr(word, 3)
        else if (word == "-include")
            first[++firsts] = ARGV[++i]
        else if (word ~ /\.cu$/)
            source = word
        else if (word ~ /^(@|-isystem|-optf|--(system-include|include-path|pre-include|options-file))/)
            exit 1
    }
    for (i = 1; i <= firsts; i++)
        take(find(first[i], ""))
    take(source)
}
