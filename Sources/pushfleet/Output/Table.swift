/// Rows of text in aligned columns, for reading in a terminal.
struct Table: Equatable {
    enum Alignment {
        case left
        case right
    }

    private let headings: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []

    /// - Parameter columns: headings; those that begin with `>` are numbers and stand to the right.
    init(_ columns: String...) { self.init(columns) }

    init(_ columns: [String]) {
        self.alignments = columns.map { $0.hasPrefix(">") ? .right : .left }
        self.headings = columns.map { $0.hasPrefix(">") ? String($0.dropFirst()) : $0 }
    }

    var isEmpty: Bool { self.rows.isEmpty }

    mutating func add(_ cells: String...) { self.add(cells) }

    /// Cells that are missing are empty; there must not be more than columns.
    mutating func add(_ cells: [String]) {
        precondition(cells.count <= self.headings.count, "more cells than columns")
        self.rows.append(cells + Array(repeating: "", count: self.headings.count - cells.count))
    }

    /// Lines without trailing spaces; two spaces between columns.
    func lines(indent: Int = 0) -> [String] {
        let all = [self.headings] + self.rows
        let widths = self.headings.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { cells in
            let padded = cells.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - cells[column].count)
                return self.alignments[column] == .right ? padding + cells[column] : cells[column] + padding
            }
            var line = String(repeating: " ", count: indent) + padded.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
